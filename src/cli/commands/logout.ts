// `busbar logout SERVER`: the token is taken back where that can be done, and erased here in any case.

import { Fault } from '../../base/fault.ts'
import { placesOf } from '../../base/places.ts'
import { accountsKept, forgetServer } from '../../connect/forget.ts'
import { openSecrets } from '../../secrets/secrets.ts'
import { command } from '../command.ts'
import { restartInGateway } from '../gateway-restart.ts'
import { safe } from '../output.ts'

export const spec = command({
  summary: 'sign out of a server, and erase its tokens',
  words: '<server>',
  options: {
    account: { value: 'name', about: 'only this account; default: all of the server' },
  },
  help: `
Tells whoever gave the token that it is over, and erases it here whatever they answer. A running gateway stops using it
at once. A server that is not configured any more can be signed out of, too.

Examples:
  busbar logout github
  busbar logout github --account work`,
  run: async (session, [name = ''], { account }) => {
    const { out, signal } = session
    const places = placesOf(process.env)
    const secrets = await openSecrets(places, process.env)
    const kept = accountsKept(secrets, name).filter((it) => account === undefined || it === account)
    if (kept.length === 0) {
      const who = account === undefined ? name : `${name} as ${account}`
      throw new Fault('USAGE', `you are not signed in to ${who}`, { hint: 'see: busbar list' })
    }
    const release = session.hold()
    const done = await forgetServer(secrets, name, kept, process.env, signal).finally(release)
    await restartInGateway(places, name, signal)
    const unrevoked = done.filter(({ isRevoked }) => !isRevoked)
    out.answer({ server: name, accounts: done }, () => [
      `Signed out of ${safe(name)}${account === undefined ? '' : ` as ${safe(account)}`}: its tokens are erased.`,
      ...(unrevoked.length > 0
        ? ['They were not taken back by whoever gave them, so they may be good until they end by themselves.']
        : []),
    ])
  },
})
