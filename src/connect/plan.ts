// From a server's entry in the configuration to what its connection needs to know. Nothing is started here, and
// variables are filled in only when a transport is opened.

import { basename } from 'node:path'
import { sha256 } from '../base/digest.ts'
import { Fault } from '../base/fault.ts'
import { matchesGlob } from '../base/glob.ts'
import { canonical } from '../config/canonical.ts'
import { faultOf, missingHint, missingText } from '../config/missing.ts'
import { problemLine } from '../config/problem.ts'
import { type Server, serverSchema, type Transport, transportOf } from '../config/schema-server.ts'
import { secretStamps } from '../config/secret-stamps.ts'
import type { ServerEntry, Snapshot } from '../config/snapshot.ts'
import { resolveServer, scopeOf } from '../config/status.ts'
import { maskSecrets } from '../config/view.ts'
import type { Era, Implementation } from '../wire/era.ts'
import { Accounts, keyHeaders, type SigningIn } from './accounts.ts'
import type { Handlers } from './answers.ts'
import type { Credential } from './http/credential.ts'
import type { StreamableOptions } from './http/streamable.ts'
import { identityOf } from './identity.ts'
import type { InProcessServer } from './in-process.ts'
import type { LinkOptions } from './link.ts'
import { OwnSecrets } from './own-secrets.ts'
import type { Ledger } from './process/ledger.ts'
import { secretsOf } from './secrets.ts'
import type { OpenTransport } from './transport.ts'

/** What all servers of a hub have in common. */
export interface PlanContext {
  readonly client: Implementation
  readonly handlers: Handlers
  /** The server object of that name, which lives in this process. */
  instance(name: string): InProcessServer | undefined
  readonly ledger: () => Ledger
  readonly signingIn: SigningIn
}

type Opening = Pick<
  LinkOptions,
  'client' | 'open' | 'fallback' | 'respawn' | 'only' | 'patience' | 'handlers' | 'own' | 'whose' | 'scrub'
>

export interface Plan {
  readonly name: string
  /** Changes when what runs changes, also by a file that it reads; what is remembered and allowed belongs to it. */
  readonly identity: string
  /** Changes when anything changes. */
  readonly content: string
  readonly transport: Transport | undefined
  readonly scope: string
  readonly source: string
  readonly shown: unknown
  readonly limits: Server['limits']
  /** Who has one to themselves. */
  readonly share: Server['share']
  /** Milliseconds. */
  readonly health: number
  readonly deadline: number
  readonly firstDeadline: number
  readonly timeouts: Server['timeouts']
  /** The era a person chose; undefined: found out. */
  readonly era: Era | undefined
  /** Kept running; otherwise started by the first call. */
  readonly eager: boolean
  /** Why it is off, if it is. */
  readonly disabled: string | undefined
  readonly unusable: Fault | undefined
  offers(tool: string): boolean
  /** Whether there is a tool that it may not offer. */
  readonly filters: boolean
  /** As which account requests are made; undefined: the server's own. */
  readonly account: string | undefined
  /** What must not be seen of it. */
  readonly secrets: OwnSecrets
  readonly accounts: Pick<Accounts, 'of' | 'assigned' | 'version' | 'signIn'>
  link(account: string | undefined): Promise<Opening>
  /** The server with every variable filled in; throws where one is missing. */
  resolved(): Server
}

/** The reason of a server that is off because everything is. */
export const INTEGRATIONS_OFF = 'integrations are off'

/** Silence after which the older handshake follows. Over http there is always an answer, so more patience costs nothing. */
const PATIENCE = { process: 700, remote: 3_000 }
/** For a package that may have to be fetched first. */
const FETCH_DEADLINE = 120_000
const FETCHING = /^(?:npx|bunx|pnpx|uvx|pipx|docker|podman|deno|uv|pnpm|yarn|npm|bun)$/

export function planServer(entry: ServerEntry, active: Snapshot, context: PlanContext): Plan {
  const { name, definition } = entry
  const { tools, timeouts, limits, share } = definition ?? serverSchema.parse({})
  const scope = scopeOf(entry, active)
  const { root } = scope
  // What is only decided by does not concern the process.
  const { approval: _, price: __, trustAnnotations: ___, ...lived } = definition ?? {}
  const on = definition?.enabled !== false && active.config.enabled
  const accounts = new Accounts(entry, active, context.signingIn)
  const fetching = definition?.command !== undefined && FETCHING.test(basename(definition.command))
  const object = numberOf(context.instance(name))
  const identity = identityOf(definition, scope, object)
  const secrets = new OwnSecrets(() => {
    const resolved = resolveServer(entry, active)
    return resolved?.ok ? secretsOf(resolved.value, definition, active) : { all: [], sure: [] }
  })
  return {
    name,
    // A file can be another by now: what is started next is, too.
    get identity() {
      return definition?.envFile === undefined ? identity : identityOf(definition, scope, object)
    },
    content: sha256(
      canonical({
        definition: definition && lived,
        problem: entry.problems[0] && problemLine(entry.problems[0]),
        root,
        starts: active.starts.has(name),
        on,
        object,
        accounts: accounts.assigned,
        secrets: secretStamps(definition, active.secrets),
      }),
    ),
    transport: definition && transportOf(definition),
    scope: entry.scope,
    source: entry.place.origin.file,
    shown: maskSecrets(definition),
    limits,
    share,
    health: timeouts.health,
    deadline: timeouts.connect,
    firstDeadline: fetching ? Math.max(timeouts.connect, FETCH_DEADLINE) : timeouts.connect,
    timeouts,
    era: definition === undefined || definition.era === 'auto' ? undefined : definition.era,
    eager: active.starts.has(name),
    disabled: on ? undefined : active.config.enabled ? 'it is disabled' : INTEGRATIONS_OFF,
    unusable: definition && resolveServer(entry, active)?.ok ? undefined : whyNot(entry, active),
    offers: (tool) =>
      tools.include.some((glob) => matchesGlob(glob, tool)) &&
      !tools.exclude.some((glob) => matchesGlob(glob, tool)),
    filters: tools.exclude.length > 0 || !tools.include.includes('*'),
    account: undefined,
    secrets,
    accounts,
    link: (account) => opening(entry, active, context, { accounts, account, secrets }),
    resolved: () => resolvedServer(entry, active),
  }
}

// --- internal ---

/** Two objects are never the same server, whatever they are called. */
const NUMBERS = new WeakMap<InProcessServer, number>()
let lastNumber = 0

function numberOf(instance: InProcessServer | undefined): number | undefined {
  if (instance === undefined) return undefined
  const number = NUMBERS.get(instance) ?? ++lastNumber
  NUMBERS.set(instance, number)
  return number
}

function whyNot(entry: ServerEntry, active: Snapshot): Fault {
  const { name } = entry
  const [problem] = entry.problems
  if (problem)
    return new Fault(problem.code ?? 'CONFIG_INVALID', problemLine(problem), {
      hint: problem.hint,
      server: name,
    })
  const resolved = resolveServer(entry, active)
  const missing = resolved && !resolved.ok ? resolved.missing : []
  const fault = faultOf(missing, active.secrets)
  const why = fault ? `: ${fault.message}` : ''
  return new Fault(fault?.code ?? 'CONFIG_INVALID', `${name} needs ${missingText(missing)}${why}`, {
    hint: missingHint(missing, active.secrets),
    server: name,
  })
}

function resolvedServer(entry: ServerEntry, active: Snapshot): Server {
  const resolved = resolveServer(entry, active)
  if (!resolved?.ok) throw whyNot(entry, active)
  return resolved.value
}

async function opening(
  entry: ServerEntry,
  active: Snapshot,
  context: PlanContext,
  { accounts, account, secrets }: { accounts: Accounts; account: string | undefined; secrets: OwnSecrets },
): Promise<Opening> {
  const { client, handlers } = context
  const server = resolvedServer(entry, active)
  secrets.renew()
  const { scrub } = secrets
  const own = server.share !== 'process'
  const remote = { client, handlers, own, scrub, respawn: false, patience: PATIENCE.remote }
  const addressed = async () => ({
    ...address(entry.name, server, active, account, await accounts.credential(server, account)),
    scrub,
  })
  switch (transportOf(server)) {
    case 'stdio':
      return {
        ...remote,
        open: await stdio(entry, server, active, context, scrub),
        respawn: true,
        patience: PATIENCE.process,
      }
    case 'sdk':
      return { ...remote, open: await inProcess(entry.name, context) }
    case 'sse':
      return {
        ...remote,
        open: (await import('./http/legacy-sse.ts')).openLegacySse(await addressed()),
        // It was given up before the modern era began.
        only: 'legacy',
      }
    case 'websocket':
      return {
        ...remote,
        open: (await import('./websocket.ts')).openWebSocket(await addressed()),
        respawn: true,
      }
    default: {
      const options = await addressed()
      const [{ openStreamable }, { openLegacySse }] = await Promise.all([
        import('./http/streamable.ts'),
        import('./http/legacy-sse.ts'),
      ])
      return { ...remote, open: streamable(options, openStreamable), fallback: openLegacySse(options) }
    }
  }
}

async function stdio(
  entry: ServerEntry,
  server: Server,
  active: Snapshot,
  context: PlanContext,
  scrub: (text: string) => string,
): Promise<OpenTransport> {
  const [{ openStdio }, { absolute }] = await Promise.all([
    import('./stdio.ts'),
    import('../config/sources.ts'),
  ])
  const { root, home } = scopeOf(entry, active)
  return openStdio({
    server: entry.name,
    command: server.command ?? '',
    args: server.args,
    cwd: server.cwd === undefined ? root : absolute(server.cwd, root, home),
    own: active.env,
    env: server.env,
    sandbox: server.sandbox && { ...server.sandbox, root },
    ledger: context.ledger(),
    limit: server.limits.message,
    scrub,
  })
}

async function inProcess(name: string, context: PlanContext): Promise<OpenTransport> {
  const instance = context.instance(name)
  if (instance === undefined)
    throw new Fault('CONFIG_INVALID', `${name} is a server inside a program, and this program has none`, {
      hint: 'give it to createHub() as the entry’s instance',
      server: name,
    })
  return (await import('./in-process.ts')).openInProcess(name, instance)
}

/** After a session was renewed, or a gap in listening, nobody knows what was missed: as if the server had said so. */
function streamable(options: Address, open: (options: StreamableOptions) => OpenTransport): OpenTransport {
  return (events) => {
    let gap = false
    return open({
      ...options,
      onStatus: (status) => {
        if (status === 'session-renewed' || (status === 'listening' && gap))
          for (const changed of LISTS_CHANGED) events.message(changed)
        gap = status === 'not-listening'
      },
    })(events)
  }
}

const LISTS_CHANGED = ['tools', 'resources', 'prompts'].map((list) =>
  Buffer.from(`{"jsonrpc":"2.0","method":"notifications/${list}/list_changed"}`),
)

type Address = ReturnType<typeof address> & { readonly scrub: (text: string) => string }

/** What a person wrote; of who asks, only what signs the requests says something. */
function written({ headers }: Server, isSigned: boolean): Server['headers'] {
  if (!isSigned) return headers
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !/^(?:authorization|dpop)$/i.test(name)),
  )
}

function address(
  name: string,
  server: Server,
  { env }: Snapshot,
  account: string | undefined,
  credential: Credential | undefined,
) {
  const { id } = server
  const key = keyHeaders(name, server, account)
  // A connector of claude.ai is told apart by its id, in the address where that has room for it.
  const url = (server.url ?? '').replaceAll('{id}', encodeURIComponent(id ?? ''))
  const connector = server.type === 'claudeai-proxy' && id !== undefined ? { 'X-Mcp-Connector-Id': id } : {}
  return {
    server: name,
    url,
    headers: { ...connector, ...written(server, credential !== undefined), ...key },
    env,
    credential,
    limit: server.limits.message,
  }
}
