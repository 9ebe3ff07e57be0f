// `busbar up`: the gateway. Runs until it is interrupted, follows the configuration, and leaves no process behind.

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { Fault } from '../../base/fault.ts'
import { withLock } from '../../base/lock.ts'
import { gatewaySocket, prepareFolder } from '../../base/places.ts'
import { DRAIN } from '../../connect/gate.ts'
import { Gateway } from '../../gateway/gateway.ts'
import { type Hub, hubOf } from '../../hub.ts'
import { command } from '../command.ts'
import { type Loaded, type Session, startDespiteErrors } from '../session.ts'
import { announce } from '../up-announce.ts'
import { follow } from '../up-follow.ts'
import { eventLog, teller } from '../up-log.ts'
import { type LiveTable, liveTable } from '../up-table.ts'

export const spec = command({
  summary: 'run the gateway',
  options: {
    port: { value: 'port', about: 'port to listen on; 0 takes a free one' },
    host: { value: 'address', about: 'address to listen on; default 127.0.0.1' },
    quiet: { about: 'no table of servers' },
  },
  help: `
Clients reach all servers of an agent at URL/mcp and one at URL/mcp/SERVER, with the agent's token (Authorization:
Bearer …). On a terminal a table of the servers stays below what is told. The configuration is followed while it runs:
unchanged servers keep their process. Ctrl-C lets calls finish (5 s), a second one does not.

Examples:
  busbar up
  busbar up --port 0 --json
  busbar up --config team.yaml --trust`,
  run: async (session, _, options) => {
    tuneForCalls()
    const loaded = await session.load()
    const telling = teller(session)
    startDespiteErrors(loaded.snapshot, telling)
    for (const { kind, state, file } of loaded.subjects)
      if (kind === 'settings' && state !== 'trusted')
        telling.warn(`not trusted, so not in force: the settings of ${file}; run: busbar trust`)
    const { host, quiet = false } = options
    await alone(loaded, () => serve(session, loaded, { port: portOf(options.port), host, quiet }))
  },
})

// --- internal ---

/**
 * A gateway runs the same few functions from its first call on, so they are worth compiling at once and optimising
 * after a fraction of the usual number of runs: the first thousands of calls cost half as much. Its heap is small and
 * large answers pass beside it, so it may grow fivefold before it is searched: else every other large answer does that.
 */
function tuneForCalls(): void {
  const [major = 0] = process.versions.v8.split('.').map(Number)
  // A version that does not know a flag complains about it on stderr.
  if (major > 13) return
  setFlagsFromString('--always-sparkplug')
  setFlagsFromString('--heap-growing-percent=400')
  if (major === 11) setFlagsFromString('--interrupt-budget=10000')
}

/** One gateway for each home: it owns the servers and the files there. */
async function alone(loaded: Loaded, work: () => Promise<void>): Promise<void> {
  const { places } = loaded.snapshot
  prepareFolder(places.state)
  try {
    await withLock(join(places.state, 'gateway.lock'), work, { timeoutMs: 300 })
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'CONFIG_LOCKED') throw error
    throw new Fault('GATEWAY_BUSY', `a gateway is running already (${error.message})`, {
      hint: 'stop it first, or set BUSBAR_HOME to another folder',
      cause: error,
    })
  }
}

interface Flags {
  readonly port: number | undefined
  readonly host: string | undefined
  readonly quiet: boolean
}

async function serve(session: Session, { active }: Loaded, flags: Flags): Promise<void> {
  const { out, signal } = session
  const release = session.hold()
  const telling = teller(session)
  // Servers start when it listens: twenty that start at once would hold that up.
  const log = eventLog(telling)
  const hub = await hubOf(active, { relay: true, start: 'later', onEvent: log })
  const { gateway: configured } = active.config
  const forget = removeSocketAtExit(hub)
  let gateway: Gateway | undefined
  let table: LiveTable | undefined
  try {
    gateway = await Gateway.open(hub, {
      host: flags.host ?? configured.host,
      port: flags.port ?? configured.port,
      report: (error) =>
        telling.warn(`internal error: ${error instanceof Error ? (error.stack ?? error.message) : error}`),
    })
    const watch = await follow(session, hub, gateway, flags, telling)
    gateway.look = () => watch.look()
    gateway.isWritten = (agent) => watch.isWritten(agent)
    announce(session, hub, gateway)
    if (!flags.quiet) table = liveTable(out, hub)
    if (!signal.aborted) void hub.servers.connectAll()
    // Those of an earlier run; whoever asked them may come back.
    for (const approval of await hub.approvals.list('pending')) log({ type: 'approval', approval })
    await interrupted(signal)
    watch.close()
    gateway.refuse()
    // What nobody is there for has ended by then, and is not waited for.
    await turn()
  } finally {
    table?.end()
    const calls = underWay(hub)
    if (calls > 0)
      telling.note(`stopping; ${calls} call${calls === 1 ? '' : 's'} under way, Ctrl-C again ends them`)
    await hub.close({ drain: DRAIN })
    await gateway?.close()
    forget()
    release()
  }
}

function interrupted(signal: AbortSignal): Promise<void> {
  return new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

/** A second Ctrl-C ends this process at once; the socket goes before the lock, so that it is no other gateway's. */
function removeSocketAtExit({ places }: Hub): () => void {
  const remove = () => rmSync(gatewaySocket(places), { force: true })
  process.prependListener('exit', remove)
  return () => process.off('exit', remove)
}

function underWay({ context }: Hub): number {
  return context.manager.connections.reduce((sum, { gate }) => sum + gate.inside, 0)
}

function portOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const port = Number(text)
  if (/^\d+$/.test(text) && port <= 65535) return port
  throw new Fault('USAGE', `--port is ${JSON.stringify(text)}; expected a number from 0 to 65535`)
}
