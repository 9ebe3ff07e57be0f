// `busbar login SERVER`: a person signs in to a server, once; from then on the token renews itself.

import type { Login } from '../../connect/login.ts'
import type { Hub } from '../../hub.ts'
import { openSecrets } from '../../secrets/secrets.ts'
import { command } from '../command.ts'
import { restartInGateway } from '../gateway-restart.ts'
import { safe } from '../output.ts'
import { withHub } from '../private-hub.ts'
import type { Session } from '../session.ts'
import { showSignIn } from '../show-sign-in.ts'

export const spec = command({
  summary: 'sign in to a server',
  words: '<server>',
  options: {
    account: { value: 'name', about: "one of the server's accounts, where it has several" },
    scope: { value: 'scope', many: true, about: 'a right to ask for on top of the usual ones (repeatable)' },
    'no-browser': { about: 'only show the address; paste back where the browser ended' },
    device: { about: 'sign in on another device, with a code' },
  },
  help: `
Opens a browser, waits up to five minutes for it to come back, and keeps the token where secrets are kept
(busbar secrets list says where). A running gateway uses it at once. Exit 1 when it did not work.

Without a screen the address is shown, and the address at which the browser ended can be pasted.

Examples:
  busbar login github
  busbar login github --account work
  busbar login github --scope "repo read:org"
  busbar login github --no-browser
  busbar login github --device`,
  run: async (session, [name = ''], options) => {
    const { out, signal } = session
    await withHub(session, await session.load(), {}, async (hub, line) => {
      const done = await hub.servers.login(name, {
        account: options.account,
        scopes: options.scope?.flatMap((text) => text.split(/[\s,]+/)).filter((word) => word !== ''),
        device: options.device,
        signal,
        onSignIn: showSignIn({ out, noBrowser: options['no-browser'] === true }),
      })
      await tellKeeping(session, hub)
      line.show(`asking ${name} for its tools`)
      const { text, ...result } = await tried(session, hub, done)
      line.end()
      const { account, issuer, scopes, expires, renews } = done
      const login = { ...done, expires: expires === undefined ? undefined : new Date(expires).toISOString() }
      out.answer({ login, ...result }, () => [
        `Signed in to ${safe(name)}${account === undefined ? '' : ` as ${safe(account)}`} (${safe(issuer)}).`,
        ...(scopes.length > 0 ? [`Rights: ${safe(scopes.join(' '))}`] : []),
        renews
          ? 'The token renews itself.'
          : expires === undefined
            ? 'The token is good until the server says otherwise.'
            : `The token ends ${new Date(expires).toLocaleString()}; then sign in again.`,
        ...(text === undefined ? [] : [text]),
      ])
    })
  },
})

/** Where there is no keyring a person should know what they rely on instead; once, when the key is made. */
async function tellKeeping({ out }: Session, { places }: Hub): Promise<void> {
  const { because, protection } = await openSecrets(places, process.env)
  if (because !== undefined)
    out.warn(
      `${because}; tokens are sealed by a key in a file instead (${protection}, beside the configuration)`,
    )
}

/** Whether the server takes it, as the gateway finds out where one runs, else tried here. */
async function tried(session: Session, hub: Hub, { server, account }: Login) {
  const inGateway = await restartInGateway(hub.places, server, session.signal)
  if (inGateway !== undefined) return { gateway: inGateway, text: `The gateway uses it: ${safe(inGateway)}.` }
  // An account of some agents is not the one the server's lists are asked with.
  if (account !== undefined) return { text: undefined }
  const { status, error, tools } = await hub.servers.connect(server)
  if (status !== 'connected') session.out.warn(`${server} is ${status} all the same: ${error ?? ''}`)
  return status === 'connected'
    ? { status, text: `It offers ${tools?.length ?? 0} tools.` }
    : { status, text: undefined }
}
