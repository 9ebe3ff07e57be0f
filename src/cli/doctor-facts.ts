// What `busbar doctor` knows of the gateway, its home and its clients. Only looks: nothing is started, and nothing written.

import { accessSync, constants, readdirSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { sha256 } from '../base/digest.ts'
import { Fault } from '../base/fault.ts'
import { type Environment, type Places, placesOf } from '../base/places.ts'
import { VERSION } from '../base/version.ts'
import { expandText } from '../config/expand.ts'
import { errorsOf } from '../config/load.ts'
import type { Snapshot } from '../config/snapshot.ts'
import { configDigest } from '../config/snapshot-digest.ts'
import { settingsScope } from '../config/status.ts'
import type { ServerStatus } from '../connect/status.ts'
import type { Answer } from '../gateway/api-types.ts'
import { checkExposure } from '../gateway/guard.ts'
import { examineStore } from '../store/examine.ts'
import { type ClientState, clientStates } from './connect-list.ts'
import { reachable } from './connect-target.ts'
import type { ClientFact } from './doctor-clients.ts'
import { type Ledger, withLedger } from './doctor-ledger.ts'
import { askGateway, type GatewayStatus, gatewayStatus } from './gateway-client.ts'
import type { Loaded, Session } from './session.ts'

interface AgentFact {
  readonly name: string
  readonly enabled: boolean
  /** The file it stands in, where that is not trusted yet: nobody can act as this agent. */
  readonly untrusted?: string
  /** The running gateway serves it nonetheless, by the settings of that file that were trusted last. */
  readonly served?: boolean
  /** How many it may use; unknown while everything is off. */
  readonly servers?: number
  /** One of them. */
  readonly first?: string
  readonly token: boolean
  /** All its tools are listed, however many they are. */
  readonly full: boolean
  /** As the running gateway counts them. */
  readonly tools?: number
  /** Why there are none. */
  readonly reason?: string
}

export interface GatewayFacts {
  readonly now: number
  /** When this version was made, or a little before. */
  readonly released: number
  /** The latest time that a file of this home was written. */
  readonly newest?: number
  readonly version: string
  readonly running?: GatewayStatus
  /** Where it would listen by the configuration; absent when that is any free port. */
  readonly address?: string
  readonly portTaken: boolean
  /** Another home whose gateway runs: its state folder, and BUSBAR_HOME there. */
  readonly otherHome?: { readonly home: string; readonly variable?: string }
  readonly digest: string
  readonly valid: boolean
  /** Files whose settings changed since they were trusted. */
  readonly changedSettings: readonly string[]
  readonly exposure?: Fault
  /** The variable that sends clients of this machine's own gateway to a proxy. */
  readonly proxy?: string
  readonly store?: Fault
  readonly clients: readonly ClientFact[]
  readonly unreadable: readonly Fault[]
  readonly agents: readonly AgentFact[]
  /** Those of the running gateway that do not work. */
  readonly servers: readonly Pick<ServerStatus, 'name' | 'status' | 'error' | 'hint' | 'fault'>[]
  readonly approvals: number
  /** Agents without energy. */
  readonly empty: readonly string[]
  /** Addresses of tools whose definition changed. */
  readonly changed: readonly string[]
}

export async function gatherFacts(session: Session, loaded: Loaded): Promise<GatewayFacts> {
  const { snapshot, active } = loaded
  const { places, config, env } = snapshot
  const running = await gatewayStatus(places, session.signal)
  const states = await clientStates(snapshot)
  const examined = await examineStore(join(places.state, 'busbar.db'))
  const store = examined instanceof Fault ? examined : undefined
  const address = addressOf(config.gateway)
  const wanted = Object.keys(config.agents).length > 0 || states.some(({ entry }) => entry?.kind === 'http')
  const tell = async (ledger: Ledger | undefined) => await told(session, loaded, states, running, ledger)
  const rest =
    store !== undefined || (examined === 'absent' && running === undefined)
      ? await tell(undefined)
      : await withLedger(session, active, running !== undefined, tell)
  const { otherHome, newest, proxy, exposure } = {
    otherHome: await runningElsewhere(session, snapshot, states),
    newest: newestOf(places),
    proxy: proxyInTheWay(env),
    exposure: exposureOf(snapshot, rest.agents),
  }
  return {
    now: Date.now(),
    released: RELEASED,
    version: VERSION,
    digest: configDigest(active),
    valid: errorsOf(snapshot).length === 0,
    changedSettings: changedSettings(loaded),
    portTaken: running === undefined && wanted && address !== undefined && (await isTaken(config.gateway)),
    unreadable: states.flatMap(({ trouble }) => (trouble === undefined ? [] : [trouble])),
    ...rest,
    ...(running === undefined
      ? {}
      : { running: running.url === undefined ? running : { ...running, url: reachable(running.url) } }),
    ...(address === undefined ? {} : { address }),
    ...(otherHome === undefined ? {} : { otherHome }),
    ...(newest === undefined ? {} : { newest }),
    ...(proxy === undefined ? {} : { proxy }),
    ...(exposure === undefined ? {} : { exposure }),
    ...(store === undefined ? {} : { store }),
  }
}

/** The first variable that names a proxy, unless loopback is excepted from it. */
export function proxyInTheWay(env: Environment): string | undefined {
  const name = ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy'].find((it) => env[it])
  const excepted = (env['NO_PROXY'] || env['no_proxy'] || '').split(/[\s,]+/)
  return excepted.some((it) => it === '*' || /^127\.(?:0\.0\.1$|0\.0\.0\/8$|\*|0\.0\.\*)/.test(it))
    ? undefined
    : name
}

// --- internal ---

/** A clock that is before this is wrong. */
const RELEASED = Date.UTC(2026, 10, 1)

/** As long as ids of tokens are. */
const ID_LENGTH = 12

type Told = Pick<GatewayFacts, 'clients' | 'agents' | 'servers' | 'approvals' | 'empty' | 'changed'>

/** What the gateway or the store say; without a store there is nothing to be said of tokens. */
async function told(
  session: Session,
  loaded: Loaded,
  states: readonly ClientState[],
  running: GatewayStatus | undefined,
  ledger: Ledger | undefined,
): Promise<Told> {
  const { snapshot, active } = loaded
  const { places, assignments, config } = snapshot
  const edited = running ? changedSettings(loaded) : []
  const ask = <T extends object>(path: string) =>
    askGateway<T>(places, { method: 'GET', path, signal: session.signal })
  const follows = running?.config === configDigest(active)
  const served = edited.length > 0 ? (await ask<Answer<'GET /api/agents'>>('/api/agents')).agents : []
  const tokens = new Map<string, Owned>()
  const agents: AgentFact[] = []
  const known = new Set([...Object.keys(config.agents), ...states.flatMap(({ agent }) => agent ?? [])])
  for (const name of known) {
    const own = configuredToken(snapshot, name)
    if (own !== undefined) tokens.set(sha256(own).slice(0, ID_LENGTH), { agent: name, state: 'active' })
    const made = (await ledger?.tokens(name)) ?? []
    for (const { id, state } of made) tokens.set(id, { agent: name, state })
    const definition = config.agents[name]
    if (definition === undefined) continue
    const untrusted = active.waiting.get(name)
    const listed =
      follows && definition.enabled && untrusted === undefined
        ? await ask<{ tools: unknown[]; reason?: string }>(`/api/tools?agent=${encodeURIComponent(name)}`)
        : undefined
    const allowed = assignments.find((it) => it.id === name)?.servers ?? []
    const [first] = allowed
    agents.push({
      name,
      enabled: definition.enabled,
      ...(untrusted === undefined ? {} : { untrusted }),
      ...(untrusted !== undefined && edited.includes(untrusted) && served.some((it) => it.name === name)
        ? { served: true }
        : {}),
      full: definition.surface === 'full',
      token: ledger === undefined || own !== undefined || made.some(({ state }) => state === 'active'),
      ...(config.enabled ? { servers: allowed.length } : {}),
      ...(first === undefined ? {} : { first }),
      ...(listed === undefined ? {} : { tools: listed.tools.length }),
      ...(listed?.reason === undefined ? {} : { reason: listed.reason }),
    })
  }
  const servers = running ? (await ask<{ servers: ServerStatus[] }>('/api/servers')).servers : []
  return {
    agents,
    clients: states.flatMap((state) => clientFact(state, snapshot, ledger && tokens)),
    servers: servers.flatMap(failing),
    approvals: (await ledger?.pending()) ?? 0,
    empty: (await ledger?.empty()) ?? [],
    changed: (await ledger?.changed()) ?? [],
  }
}

/** One that is just tried once more has failed, too: it would else depend on the moment whether that is said. */
function failing(server: ServerStatus): ServerStatus[] {
  const { status, state, errors } = server
  if (status === 'failed' || status === 'needs-auth') return [server]
  const [last] = errors
  return state === 'starting' && last !== undefined
    ? [{ ...server, error: server.error ?? last.message }]
    : []
}

/** Files whose settings changed since they were trusted. */
function changedSettings({ subjects }: Loaded): string[] {
  return subjects
    .filter(({ kind, state }) => kind === 'settings' && state === 'changed')
    .map(({ file }) => file)
}

interface Owned {
  readonly agent: string
  readonly state: 'active' | 'expired' | 'revoked'
}

function clientFact(
  { client, scope, file, entry, agent: recorded }: ClientState,
  snapshot: Snapshot,
  tokens: ReadonlyMap<string, Owned> | undefined,
): ClientFact[] {
  if (entry === undefined) return []
  const { token, kind, url, command, args = [] } = entry
  const owned = token === undefined ? undefined : tokens?.get(sha256(token).slice(0, ID_LENGTH))
  const agent = owned?.agent ?? recorded
  const otherHome = kind === 'stdio' ? homeOf(entry.env, snapshot) : undefined
  const missing = kind === 'stdio' ? [command ?? '', args[0] ?? ''].find(isMissing) : undefined
  return [
    {
      id: client.id,
      title: client.title,
      file,
      scope,
      way: kind,
      token:
        token === undefined
          ? 'none'
          : tokens === undefined
            ? 'unchecked'
            : owned === undefined
              ? 'unknown'
              : owned.state === 'active'
                ? 'opens'
                : owned.state,
      open: ((statSync(file, { throwIfNoEntry: false })?.mode ?? 0) & 0o077) !== 0,
      ...(url === undefined ? {} : { url }),
      ...(agent === undefined ? {} : { agent }),
      ...(missing === undefined ? {} : { missing }),
      ...(otherHome === undefined ? {} : { otherHome }),
    },
  ]
}

/** Only full paths are looked at: what a client finds by a name is not known here. */
function isMissing(path: string): boolean {
  if (!path.startsWith('/')) return false
  try {
    accessSync(path, constants.R_OK)
    return false
  } catch {
    return true
  }
}

/** The state folder of what a client starts, when it is another than ours. */
function homeOf(given: Readonly<Record<string, unknown>>, { env, places }: Snapshot): string | undefined {
  const text = (name: string) => (typeof given[name] === 'string' ? given[name] : undefined)
  const { state } = placesOf({
    HOME: env['HOME'],
    BUSBAR_HOME: text('BUSBAR_HOME'),
    XDG_STATE_HOME: text('XDG_STATE_HOME'),
    XDG_CONFIG_HOME: text('XDG_CONFIG_HOME'),
  })
  return state === places.state ? undefined : state
}

function configuredToken(snapshot: Snapshot, agent: string): string | undefined {
  const token = snapshot.config.agents[agent]?.token
  const expanded = token === undefined ? undefined : expandText(token, settingsScope(snapshot))
  return expanded?.ok && expanded.value !== '' ? expanded.value : undefined
}

/** The usual home, and those that clients' entries name. */
async function runningElsewhere(
  session: Session,
  { env, places }: Snapshot,
  states: readonly ClientState[],
): Promise<GatewayFacts['otherHome']> {
  const named = states.map(({ entry }) => entry?.env['BUSBAR_HOME'])
  for (const variable of [undefined, ...new Set(named)]) {
    const home = typeof variable === 'string' ? variable : undefined
    const { state, ...others } = placesOf({ ...env, BUSBAR_HOME: home })
    if (state === places.state) continue
    if (await gatewayStatus({ state, ...others }, session.signal))
      return { home: state, ...(home === undefined ? {} : { variable: home }) }
  }
  return undefined
}

function newestOf({ state }: Places): number | undefined {
  try {
    const times = readdirSync(state).map(
      (name) => statSync(join(state, name), { throwIfNoEntry: false })?.mtimeMs ?? 0,
    )
    return times.length === 0 ? undefined : Math.max(...times)
  } catch {
    // No folder, no files.
    return undefined
  }
}

function addressOf({ host, port }: { host: string; port: number }): string | undefined {
  return port === 0 ? undefined : reachable(`http://${host.includes(':') ? `[${host}]` : host}:${port}`)
}

async function isTaken({ host, port }: { host: string; port: number }): Promise<boolean> {
  return await new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'EADDRINUSE'))
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(false)))
  })
}

function exposureOf({ config }: Snapshot, agents: readonly AgentFact[]): Fault | undefined {
  const { host, allowedHosts } = config.gateway
  try {
    checkExposure(host, allowedHosts, {
      enabled: agents
        .filter(({ enabled, untrusted }) => enabled && untrusted === undefined)
        .map(({ name }) => name),
      withToken: agents.filter(({ token }) => token).map(({ name }) => name),
    })
    return undefined
  } catch (error) {
    if (error instanceof Fault) return error
    throw error
  }
}
