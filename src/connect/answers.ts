// What servers ask of us: a person's input, a model's answer, the folders they may know. Offered only where the hub's
// owner gave a handler, and refused properly otherwise.

import { isRecord } from '../base/record.ts'
import { ERROR } from '../wire/era.ts'
import type { ProtocolError } from '../wire/message.ts'

export interface ElicitationRequest {
  readonly server: string
  readonly message: string
  readonly mode: 'form' | 'url'
  /** What the answer must look like (form). */
  readonly requestedSchema?: Readonly<Record<string, unknown>> | undefined
  /** Where the person must go (url). Never opened by Busbar itself. */
  readonly url?: string | undefined
}

export interface ElicitationAnswer {
  readonly action: 'accept' | 'decline' | 'cancel'
  readonly content?: Readonly<Record<string, unknown>> | undefined
}

export interface SamplingRequest {
  readonly server: string
  readonly params: Readonly<Record<string, unknown>>
}

export interface Root {
  readonly uri: string
  readonly name?: string
}

/** Given by the hub's owner. A handler that throws refuses. */
export interface Handlers {
  readonly onElicitation?:
    | ((request: ElicitationRequest) => ElicitationAnswer | Promise<ElicitationAnswer>)
    | undefined
  readonly onSampling?: ((request: SamplingRequest) => unknown) | undefined
  readonly roots?: readonly Root[] | undefined
  /** @internal Whether those who call through this process may be asked in its stead. */
  readonly relay?: boolean | undefined
}

/** What to do where nobody can be asked. */
export const WHO_CAN =
  'make the call with an MCP client that can answer, or with a program that has a handler for it'

export type Answer = { readonly result: unknown } | { readonly error: ProtocolError }

/** What we can answer ourselves. */
export function capabilitiesOf(handlers: Handlers): Record<string, unknown> {
  return {
    ...(handlers.onElicitation ? { elicitation: { form: {}, url: {} } } : {}),
    ...(handlers.onSampling ? { sampling: {} } : {}),
    ...(handlers.roots ? { roots: {} } : {}),
  }
}

/**
 * What a legacy server is told once and for all callers. Who of them can really be asked shows when it asks; a modern
 * one is told so with each request.
 */
export function declaredTo(handlers: Handlers, own = false): Record<string, unknown> {
  // Whose folders changed is nobody's business but those of a server that is for that client alone.
  const roots = own ? { listChanged: true } : {}
  const relayed = { elicitation: { form: {}, url: {} }, sampling: {}, roots }
  return { ...(handlers.relay ? relayed : {}), ...capabilitiesOf(handlers) }
}

/** Answers one request of a server. Never throws. */
export async function answer(
  server: string,
  method: string,
  params: unknown,
  handlers: Handlers,
): Promise<Answer> {
  const given = isRecord(params) ? params : {}
  try {
    switch (method) {
      case 'ping':
        return { result: {} }
      case 'roots/list':
        // Asked outside of a call, and of a server that is for all, nobody is there whose folders could be meant.
        return handlers.roots || handlers.relay ? { result: { roots: handlers.roots ?? [] } } : nobody(method)
      case 'sampling/createMessage':
        return handlers.onSampling
          ? { result: await handlers.onSampling({ server, params: given }) }
          : nobody(method)
      case 'elicitation/create':
        return handlers.onElicitation ? await elicit(server, given, handlers.onElicitation) : nobody(method)
      default:
        return { error: { code: ERROR.methodNotFound, message: `${method} is not offered here` } }
    }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return { error: { code: ERROR.internal, message: `the handler for ${method} failed: ${message}` } }
  }
}

// --- internal ---

/** Whether others than this process can be asked makes no difference to who asks outside of their calls. */
function nobody(method: string): Answer {
  const message = `nobody can be asked for ${method} outside of a client's call; ${WHO_CAN}`
  return { error: { code: ERROR.methodNotFound, message } }
}

async function elicit(
  server: string,
  params: Record<string, unknown>,
  handler: NonNullable<Handlers['onElicitation']>,
): Promise<Answer> {
  const { message, url, requestedSchema } = params
  const mode = params['mode'] === 'url' ? 'url' : 'form'
  if (mode === 'url' && !isWebAddress(url))
    return { error: { code: ERROR.invalidParams, message: 'only http and https addresses can be shown' } }
  const given = await handler({
    server,
    message: typeof message === 'string' ? message : '',
    mode,
    ...(isRecord(requestedSchema) ? { requestedSchema } : {}),
    ...(typeof url === 'string' ? { url } : {}),
  })
  if (!ACTIONS.has(given?.action))
    throw new Error(`the handler returned no action (${[...ACTIONS].join(', ')})`)
  if (given.action !== 'accept' || mode === 'url') return { result: { action: given.action } }
  return { result: { action: 'accept', content: { ...defaultsOf(requestedSchema), ...given.content } } }
}

const ACTIONS: ReadonlySet<unknown> = new Set(['accept', 'decline', 'cancel'])

/** A field that a person left alone has the schema's default. */
function defaultsOf(schema: unknown): Record<string, unknown> {
  const properties = isRecord(schema) && isRecord(schema['properties']) ? schema['properties'] : {}
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, property]) =>
      isRecord(property) && property['default'] !== undefined ? [[name, property['default']]] : [],
    ),
  )
}

function isWebAddress(url: unknown): boolean {
  return typeof url === 'string' && URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)
}
