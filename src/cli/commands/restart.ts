// `busbar restart NAME`: stops and starts a server of the running gateway.

import { Fault } from '../../base/fault.ts'
import { placesOf } from '../../base/places.ts'
import { isRecord } from '../../base/record.ts'
import { shellWord } from '../../base/shell-word.ts'
import { command } from '../command.ts'

import { askGateway } from '../gateway-client.ts'
import { safe } from '../output.ts'
import { statusLine } from '../status-line.ts'

export const spec = command({
  summary: 'stop and start a server of the running gateway',
  words: '<name>',
  help: `
Calls that are under way may finish first. Exit 4 when it does not come up again, or when no gateway runs.

Example:
  busbar restart github`,
  run: async (session, [name = '']) => {
    const { out, signal } = session
    // Which servers there are is for the gateway to say: it may have been started with another configuration.
    const line = statusLine(out)
    const release = session.hold()
    line.show(`restarting ${name}`)
    const answer = await askGateway(placesOf(process.env), {
      method: 'POST',
      path: `/api/servers/${encodeURIComponent(name)}/restart`,
      signal,
      otherwise: `try the server once: busbar list --check ${shellWord(name)}`,
    }).finally(() => {
      line.end()
      release()
    })
    const server = isRecord(answer['server']) ? answer['server'] : {}
    const { status, error, hint, tools } = server
    if (status === 'failed' || status === 'needs-auth')
      throw new Fault(status === 'failed' ? 'SERVER_UNREACHABLE' : 'AUTH_REQUIRED', String(error ?? status), {
        hint: typeof hint === 'string' ? hint : undefined,
        server: name,
      })
    const count = Array.isArray(tools) ? `, ${tools.length} tools` : ''
    out.answer({ server }, () => `Restarted ${safe(name)}: ${safe(String(status))}${count}.`)
  },
})
