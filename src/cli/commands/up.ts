// `busbar up`: the gateway. Runs until it is interrupted, follows the configuration, and leaves no process behind.

import { watch } from 'node:fs'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { Fault } from '../../base/fault.ts'
import { withLock } from '../../base/lock.ts'
import { type Places, prepareFolder } from '../../base/places.ts'
import { effective } from '../../config/effective.ts'
import { problemLine } from '../../config/problem.ts'
import type { Snapshot } from '../../config/snapshot.ts'
import { TRUST_FILE } from '../../config/trust.ts'
import { watchConfig } from '../../config/watch.ts'
import { DRAIN } from '../../connect/connection.ts'
import type { ServerStatus } from '../../connect/status.ts'
import { Gateway } from '../../gateway/gateway.ts'
import { ownerTokenFile } from '../../gateway/identify.ts'
import { type Hub, hubOf } from '../../hub.ts'
import { command } from '../command.ts'
import { safe } from '../output.ts'
import { failOnErrors, type Loaded, type Session } from '../session.ts'

export const spec = command({
  summary: 'run the gateway',
  options: {
    port: { value: 'port', about: 'port to listen on; 0 takes a free one' },
    host: { value: 'address', about: 'address to listen on; default 127.0.0.1' },
  },
  help: `
Clients reach each server at URL/mcp/SERVER with their agent's token (Authorization: Bearer …). The configuration is
followed while it runs: unchanged servers keep their process. Ctrl-C lets calls finish (5 s), a second one does not.

Examples:
  busbar up
  busbar up --port 0 --json
  busbar up --config team.yaml --trust`,
  run: async (session, _, options) => {
    tuneForCalls()
    const loaded = await session.load()
    failOnErrors(loaded.snapshot)
    await alone(loaded, () => serve(session, loaded, portOf(options.port), options.host))
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

async function serve(
  session: Session,
  { active }: Loaded,
  port: number | undefined,
  host: string | undefined,
): Promise<void> {
  const { out, signal } = session
  const release = session.hold()
  const warn = warner(session)
  const told = new Map<string, string>()
  const hub = await hubOf(active, {
    relay: true,
    onEvent: (event) => {
      if (event.type === 'server-status') tell(event.status)
      else if (event.type === 'trouble') warn(event.message)
      else if (event.type === 'reaped')
        for (const { server, pids } of event.processes)
          warn(`${server} was still running from a run that was killed; ended (${pids.join(', ')})`)
    },
  })
  const { gateway: configured } = active.config
  let gateway: Gateway | undefined
  try {
    gateway = await Gateway.open(hub, {
      host: host ?? configured.host,
      port: port ?? configured.port,
      report: (error) =>
        warn(`internal error: ${error instanceof Error ? (error.stack ?? error.message) : error}`),
    })
    const watch = await follow(session, hub, gateway)
    announce(session, hub, gateway)
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve()
      else signal.addEventListener('abort', () => resolve(), { once: true })
    })
    watch.close()
    gateway.refuse()
  } finally {
    await hub.close({ drain: DRAIN })
    await gateway?.close()
    release()
  }

  /** A line for each change that a person should know of; the same failure again is none. */
  function tell({ name, status, tools, error = status, hint, state }: ServerStatus): void {
    const failed = status === 'failed' || status === 'needs-auth'
    if (!failed && state !== 'connected') return
    const what = error.startsWith(name) ? error : `${name}: ${error}`
    const text = failed ? `${what}${hint ? ` (${hint})` : ''}` : `${name}: connected, ${tools.length} tools`
    if (told.get(name) === text) return
    told.set(name, text)
    if (failed) warn(text)
    else out.note(safe(text))
  }
}

/** Milliseconds that an edit has to become a trusted one. */
const PATIENCE = 1_000

async function follow(session: Session, hub: Hub, gateway: Gateway) {
  const { out } = session
  const warn = warner(session)
  let patience: NodeJS.Timeout | undefined
  const config = await watchConfig(session.loadOptions, (event) => {
    if (event.kind === 'applied') return consider(event.snapshot)
    warn('the change was refused; the last good configuration stays:')
    for (const problem of event.problems) warn(problemLine(problem))
  })
  const trust = watchTrust(hub.places, () => consider(config.current))
  return {
    close: () => {
      clearTimeout(patience)
      config.close()
      trust()
    },
  }

  /** A command of ours writes a file, and that it is trusted; whichever is heard of first, nothing may stop in between. */
  function consider(snapshot: Snapshot): void {
    clearTimeout(patience)
    if (session.subjects(snapshot).every(({ state }) => state === 'trusted')) take(snapshot)
    else patience = setTimeout(() => take(config.current), PATIENCE)
  }

  function take(snapshot: Snapshot): void {
    clearTimeout(patience)
    const subjects = session.subjects(snapshot)
    const open = subjects.filter(({ state }) => state !== 'trusted').map(({ name }) => name)
    if (open.length > 0) warn(`not trusted, so not in force: ${open.join(', ')}; run: busbar trust`)
    void takeOver(effective(snapshot, subjects)).catch((error: unknown) =>
      warn(`the change was refused: ${error instanceof Error ? error.message : error}`),
    )
  }

  async function takeOver(active: Snapshot): Promise<void> {
    // First the tokens, because two agents with one token make the whole change void.
    gateway.update(active)
    const { added, changed, removed } = hub.follow(active)
    gateway.recheck()
    const part = (word: string, names: readonly string[]) =>
      names.length > 0 ? [`${word} ${names.join(', ')}`] : []
    const parts = [...part('added', added), ...part('changed', changed), ...part('removed', removed)]
    if (parts.length > 0) out.note(safe(`configuration taken over: ${parts.join('; ')}`))
  }
}

/** Calls back when a person has answered what is trusted; returns how to stop. */
function watchTrust({ state }: Places, onAnswer: () => void): () => void {
  let timer: NodeJS.Timeout | undefined
  const watcher = watch(state, (_, file) => {
    if (file !== TRUST_FILE) return
    clearTimeout(timer)
    timer = setTimeout(onAnswer, 50)
  })
  // Without news of answers it is as before: they count after the next edit.
  watcher.on('error', () => watcher.close())
  return () => {
    clearTimeout(timer)
    watcher.close()
  }
}

/** Warnings as they come: a command that runs for days cannot keep them for its answer. */
function warner({ out }: Session): (text: string) => void {
  return (text) => {
    if (out.json) process.stderr.write(`${JSON.stringify({ warning: text })}\n`)
    else out.warn(text)
  }
}

function announce({ out }: Session, hub: Hub, { url, agents: known }: Gateway): void {
  const servers = hub.servers.status()
  const agents = Object.entries(hub.snapshot.config.agents).filter(([, { enabled }]) => enabled)
  const facts = {
    url,
    pid: process.pid,
    servers: servers.map(({ name }) => name),
    agents: agents.map(([name]) => name),
  }
  if (out.json) {
    process.stdout.write(`${JSON.stringify(facts)}\n`)
    return
  }
  out.answer(facts, () =>
    [
      `Busbar listens on ${url}`,
      ...servers.map(({ name }) => `  ${url}/mcp/${encodeURIComponent(name)}`),
      known.length > 0
        ? `Agents sign in with their tokens: ${known.join(', ')}.`
        : `No agent has a token yet (busbar agents token NAME); yours is in ${ownerPlace(hub)}.`,
      servers.length === 0 ? 'No servers yet. Run: busbar add NAME -- COMMAND' : 'Ctrl-C stops it.',
    ].join('\n'),
  )
}

function ownerPlace({ snapshot, places }: Hub): string {
  return snapshot.env['BUSBAR_ADMIN_TOKEN'] ? 'BUSBAR_ADMIN_TOKEN' : ownerTokenFile(places)
}

function portOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const port = Number(text)
  if (/^\d+$/.test(text) && port <= 65535) return port
  throw new Fault('USAGE', `--port is ${JSON.stringify(text)}; expected a number from 0 to 65535`)
}
