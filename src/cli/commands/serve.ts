// `busbar serve --stdio`: the gateway on stdin and stdout, for clients that start what they talk to.

import { Fault } from '../../base/fault.ts'
import { DRAIN } from '../../connect/gate.ts'
import { Identities, ownerToken, readTokens } from '../../gateway/identify.ts'
import { serveLines } from '../../gateway/lines.ts'
import { McpEndpoint } from '../../gateway/mcp.ts'
import { sessionKey } from '../../gateway/session-id.ts'
import { hubOf } from '../../hub.ts'
import { command } from '../command.ts'
import { gatewayFollows } from '../gateway-client.ts'
import { badToken, relayLines } from '../serve-relay.ts'
import { type Loaded, type Session, startDespiteErrors } from '../session.ts'
import { teller } from '../up-log.ts'

export const spec = command({
  summary: 'the gateway on stdin and stdout',
  options: {
    stdio: { about: 'a message a line on stdin and stdout' },
    server: { value: 'name', about: 'only this server, its names untouched' },
    project: { value: 'folder', about: 'the project to read the configuration of; default: this folder' },
  },
  help: `
For clients that start the server they talk to. BUSBAR_TOKEN says which agent it is. Where a gateway runs (busbar up) it is
used, and waited for when it is started anew; otherwise this process runs the servers itself, and ends them with the client.
Nothing but messages is written to stdout.

Examples:
  BUSBAR_TOKEN=… busbar serve --stdio
  claude mcp add busbar --env BUSBAR_TOKEN=… -- busbar serve --stdio
  busbar serve --stdio --server github`,
  run: async (session, _, { stdio, server, project }) => {
    if (stdio !== true)
      throw new Fault('USAGE', 'serve needs to know on what', {
        hint: 'run: busbar serve --stdio; over HTTP it is: busbar up',
      })
    const token = process.env['BUSBAR_TOKEN']
    if (!token)
      throw new Fault('USAGE', 'BUSBAR_TOKEN is not set: it says which agent this is for', {
        hint: 'make a token: busbar agents token NAME',
      })
    if (project !== undefined) enter(project)
    const loaded = await session.load()
    startDespiteErrors(loaded.snapshot, teller(session))
    const release = session.hold()
    try {
      if (await gatewayFollows(loaded.active, session.signal)) {
        const { places, waiting } = loaded.active
        const { stdin: input, stdout: output } = process
        const note = (text: string) => session.out.note(text)
        await relayLines({ places, waiting, token, server, input, output, signal: session.signal, note })
      } else await serveOwn(session, loaded, token, server)
    } finally {
      release()
    }
  },
})

// --- internal ---

/** Clients start what they talk to in folders of their own choosing. */
function enter(project: string): void {
  try {
    process.chdir(project)
  } catch (error) {
    throw new Fault('USAGE', `--project ${project} is no folder that can be entered`, { cause: error })
  }
}

async function serveOwn(
  { out, signal }: Session,
  { active }: Loaded,
  token: string,
  scope: string | undefined,
): Promise<void> {
  const hub = await hubOf(active, {
    relay: true,
    onEvent: (event) => {
      if (event.type === 'trouble') out.warn(event.message)
      if (event.type === 'server-status' && event.status.status === 'failed')
        out.warn(event.status.error ?? event.server)
    },
  })
  try {
    const secret = ownerToken(active.places, active.env)
    const identities = new Identities()
    identities.adopt(readTokens(active, secret, await hub.store.agents.active(Date.now())))
    const actor = identities.find(`Bearer ${token}`)
    if (actor === undefined) throw badToken(active.waiting)
    const endpoint = new McpEndpoint(hub, {
      key: sessionKey(secret),
      mostSessions: () => 1,
      sessionIdle: () => Number.POSITIVE_INFINITY,
      parked: () => active.config.gateway.limits.parked,
      report: (error) => out.warn(`internal error: ${error instanceof Error ? error.stack : error}`),
    })
    try {
      const { stdin: input, stdout: output } = process
      await serveLines(endpoint, { actor, scope, input, output }, signal)
    } finally {
      endpoint.close()
      process.stdin.destroy()
    }
  } finally {
    await hub.close({ drain: DRAIN })
  }
}
