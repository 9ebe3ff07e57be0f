// The two eras of the protocol: names, versions and codes, all in one place.
// Legacy (up to 2025-11-25) shakes hands with `initialize`; modern (2026-07-28) says who it is in every request.

export type Era = 'modern' | 'legacy'

export const MODERN_VERSION = '2026-07-28'

/** Newest first: the first is asked for, all are accepted. */
export const LEGACY_VERSIONS: readonly string[] = [
  '2025-11-25',
  '2025-06-18',
  '2025-03-26',
  '2024-11-05',
  '2024-10-07',
]

/** Keys of `_meta` that the modern era reserves. */
export const META = {
  version: 'io.modelcontextprotocol/protocolVersion',
  capabilities: 'io.modelcontextprotocol/clientCapabilities',
  client: 'io.modelcontextprotocol/clientInfo',
  server: 'io.modelcontextprotocol/serverInfo',
  logLevel: 'io.modelcontextprotocol/logLevel',
  subscription: 'io.modelcontextprotocol/subscriptionId',
} as const

/** Long calls as tasks that their client comes back to, as modern servers have them. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks'

export const ERROR = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  /** Of the legacy era; the modern one says `invalidParams`. */
  resourceNotFound: -32002,
  headerMismatch: -32020,
  missingCapability: -32021,
  unsupportedVersion: -32022,
} as const

/** Methods that existed in the legacy era only. */
export const LEGACY_METHODS: ReadonlySet<string> = new Set([
  'initialize',
  'ping',
  'logging/setLevel',
  'resources/subscribe',
  'resources/unsubscribe',
])

/** Whether a notification is one of the protocol's, in either direction; and whatever claims to be a request is none at all. */
export function isKnownNotification(method: string): boolean {
  return !method.startsWith('notifications/') || KNOWN_NOTIFICATION.test(method)
}

const KNOWN_NOTIFICATION =
  /^notifications\/(?:(?:initialized|cancelled|progress|message)$|(?:tools|prompts|resources|roots|elicitation|subscriptions|tasks)(?:\/|$))/

/** Methods whose answers may ask back (`input_required`). */
export const ASKING_METHODS: ReadonlySet<string> = new Set(['tools/call', 'prompts/get', 'resources/read'])

/** Who somebody is; what else they say of themselves is carried along. */
export interface Implementation {
  readonly name: string
  readonly version: string
  readonly title?: string | undefined
}

/** What the two sides found out about each other before the first call. */
export interface Agreement {
  readonly era: Era
  readonly version: string
  readonly serverInfo: Implementation | undefined
  readonly capabilities: Readonly<Record<string, unknown>>
  readonly instructions: string | undefined
}

/** Which parameter says what a request is about. The last three are the Tasks extension's; it has no `tasks/result`. */
export const NAMED_BY: Readonly<Record<string, 'name' | 'uri' | 'taskId'>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
}

/** The thing a request is about, which modern requests repeat in a header. */
export function nameOfRequest(method: string, params: Readonly<Record<string, unknown>>): string | undefined {
  const key = Object.hasOwn(NAMED_BY, method) ? NAMED_BY[method] : undefined
  const value = key && params[key]
  return typeof value === 'string' ? value : undefined
}
