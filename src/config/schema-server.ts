// One server as written in a configuration file.

import * as z from 'zod/mini'
import {
  about,
  approvalPreset,
  deadline,
  duration,
  glob,
  NAME,
  size,
  text,
  textList,
  verdict,
  word,
} from './schema-values.ts'

const TRANSPORTS = ['stdio', 'http', 'sse', 'websocket', 'sdk', 'claudeai-proxy'] as const
export type Transport = (typeof TRANSPORTS)[number]

const port = z.int().check(z.minimum(1), z.maximum(65535))

const NAME_OF_VARIABLE = 'expected a name without "="'
const environment = z.record(z.string().check(z.regex(/^[^=\0]+$/, { error: NAME_OF_VARIABLE })), text)
const NAME_OF_HEADER = 'expected the name of a header (letters, digits and dashes)'
const headerMap = z.record(
  z.string().check(z.regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, { error: NAME_OF_HEADER })),
  text.check(z.refine((value) => !/[\r\n\0]/.test(String(value)), { error: 'expected one line' })),
)

const oauth = z.strictObject({
  type: z.literal('oauth'),
  grant: about(
    'How tokens are got: a person signs in with a browser, on another device, or the program itself is known.',
    z._default(z.enum(['authorization_code', 'device_code', 'client_credentials']), 'authorization_code'),
  ),
  authUrl: about('Authorization endpoint; found by discovery when absent.', z.optional(word)),
  tokenUrl: about('Token endpoint; found by discovery when absent.', z.optional(word)),
  issuer: about(
    'The authorization server that the client was registered with, as it names itself: nobody else is shown its secret.',
    z.optional(word),
  ),
  clientId: about('A client registered beforehand.', z.optional(word)),
  clientSecret: about('Its secret; write it as `${secret:NAME}` or `${VAR}`.', z.optional(word)),
  clientMetadataUrl: about(
    'Address of a client-id metadata document, instead of registering.',
    z.optional(word),
  ),
  privateKey: about(
    'Its private key (PEM), instead of a secret; write it as `${secret:NAME}` or `${VAR}`.',
    z.optional(word),
  ),
  privateKeyPath: about('File that holds that key.', z.optional(word)),
  scopes: about('Scopes to ask for; default: those the server names.', z.optional(z.array(word))),
  resource: about(
    'What the token is for; default: as the server says, else its address. `none`: not said, for old servers.',
    z.optional(word),
  ),
  redirectPort: about('A fixed loopback port.', z.optional(port)),
})

const auth = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('none') }),
  z.strictObject({
    type: z.literal('api_key'),
    headerName: about('Header that carries the key.', z._default(word, 'Authorization')),
    apiKey: about('The key; write it as `${secret:NAME}` or `${VAR}`.', z.string().check(z.minLength(1))),
  }),
  oauth,
  z.strictObject({
    type: z.literal('token_file'),
    tokenPath: about(
      'File that holds the token; read again when it changes.',
      z.string().check(z.minLength(1)),
    ),
  }),
])

export type Auth = z.output<typeof auth>
export type OAuth = z.output<typeof oauth>

const sandbox = about(
  'Confines the process with bubblewrap; refused where bubblewrap is absent.',
  z.strictObject({
    read: about('Paths the server may read.', z._default(textList, [])),
    write: about('Paths the server may write.', z._default(textList, [])),
    network: about('Whether it may use the network.', z._default(z.boolean(), true)),
  }),
)

const approval = z.union([approvalPreset, z.record(glob, verdict)], {
  error: 'expected always, writes, destructive, never, or a map of tool patterns to allow, ask or deny',
})

const tools = z.strictObject({
  include: about('Tools that are offered.', z._default(z.array(glob), ['*'])),
  exclude: about('Tools that are not.', z._default(z.array(glob), [])),
})

const timeouts = z.strictObject({
  connect: about('Until it must have answered the first time.', z._default(deadline, 10_000)),
  call: about('Until a call must have made progress.', z._default(deadline, 60_000)),
  total: about('Until a call must have ended, progress or not.', z._default(deadline, 600_000)),
  health: about('How often it is asked whether it is well; 0 never.', z._default(duration, 5_000)),
})

const count = z.int().check(z.minimum(1), z.maximum(100_000))
const limits = z.strictObject({
  message: about('How large one message may be.', z._default(size, 16 * 1024 * 1024)),
  inFlight: about('Calls that are under way at a time.', z._default(count, 64)),
  queue: about('Calls that may wait for their turn.', z._default(count, 4096)),
  instances: about(
    'Processes (or connections) at a time where `share` is `agent` or `session`.',
    z._default(count, 16),
  ),
  idle: about(
    'How long such a process is kept that nobody uses; 0 for as long as there is room.',
    z._default(duration, 600_000),
  ),
})

export const serverSchema = z.strictObject({
  type: about('Transport. Follows from `command` (stdio) or `url` (http).', z.optional(z.enum(TRANSPORTS))),
  command: about('Program to run, without a shell (stdio).', z.optional(word)),
  args: about('Its arguments.', z._default(textList, [])),
  env: about('Environment added to the minimal one the process gets.', z._default(environment, {})),
  envFile: about('File with further `NAME=value` lines; `env` wins.', z.optional(word)),
  cwd: about('Working folder; default: the project folder.', z.optional(word)),
  url: about('Address of a remote server.', z.optional(word)),
  headers: about('Headers sent with every request.', z._default(headerMap, {})),
  id: about('Connector id (`type: claudeai-proxy`).', z.optional(word)),
  description: about('What it is for; shown to people and agents.', z.optional(z.string())),
  category: about('A word to group servers by.', z.optional(z.string())),
  era: about(
    'Which era of the protocol is spoken with it: `modern` (2026-07-28), `legacy` (before that), or found out.',
    z._default(z.enum(['auto', 'modern', 'legacy']), 'auto'),
  ),
  prefix: about('Stands for the server in tool names; default: its name.', z.optional(word)),
  enabled: about('`false` keeps the entry and starts nothing.', z._default(z.boolean(), true)),
  start: about('Start with Busbar, or at the first call.', z._default(z.enum(['eager', 'lazy']), 'eager')),
  share: about(
    'One process (or connection) for all, one for each agent, or one for each session of a client.',
    z._default(z.enum(['process', 'agent', 'session']), 'process'),
  ),
  tools: about('Which of its tools are offered at all.', z.prefault(tools, {})),
  timeouts: about('Deadlines.', z.prefault(timeouts, {})),
  limits: about('Bounds, so that one server cannot hold up or fill up the rest.', z.prefault(limits, {})),
  approval: about('Rules by tool pattern, or one preset for the whole server.', z.optional(approval)),
  price: about(
    'Energy on top of time, by tool pattern.',
    z._default(z.record(glob, z.number().check(z.nonnegative())), {}),
  ),
  auth: about('How Busbar signs in to the server.', z.optional(auth)),
  accounts: about(
    'Further ways to sign in, by a name; `accounts` of an agent says which it uses.',
    z.optional(z.record(z.string().check(z.regex(NAME)), auth)),
  ),
  sandbox: z.optional(sandbox),
  trustAnnotations: about(
    'Let the server say itself which tools only read. Without it, its hints only raise the gate.',
    z._default(z.boolean(), false),
  ),
})

export type Server = z.output<typeof serverSchema>
/** A server as a person writes it: everything optional, durations as text. */
export type ServerInput = z.input<typeof serverSchema>

/** The transport an entry asks for, or undefined when it has neither command nor url. */
export function transportOf(server: {
  readonly type?: Transport | undefined
  readonly command?: unknown
  readonly url?: unknown
}): Transport | undefined {
  if (server.type !== undefined) return server.type
  if (server.command !== undefined) return 'stdio'
  return server.url === undefined ? undefined : 'http'
}
