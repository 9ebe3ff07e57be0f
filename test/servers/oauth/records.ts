// What was asked of the authorization server, in the order of arrival.
import type { IncomingMessage } from 'node:http'
import type { Context } from 'oidc-provider'
import type { Failed } from './faults.ts'
import { PATHS } from './provider.ts'

/** One request to the token endpoint, in the order of arrival. */
export interface TokenRequest {
  grant?: string
  client?: string
  authentication: 'basic' | 'post' | 'assertion' | 'none'
  /** The form as it came, secrets included. */
  form: Record<string, unknown>
  /** Undefined as long as there is no answer. */
  status?: number | 'hang'
  /** The OAuth error of a refusal. */
  error?: string
}

interface Registration {
  /** What the client said of itself. */
  metadata: Record<string, unknown>
  client?: string
  status: number
}

interface Revocation {
  token: unknown
  hint: unknown
  status: number
}

export interface Lists {
  tokenRequests: TokenRequest[]
  registrations: Registration[]
  revocations: Revocation[]
  /** The parameters of each authorization request. */
  authorizations: Record<string, string>[]
}

export class Records {
  readonly lists: Lists = { tokenRequests: [], registrations: [], revocations: [], authorizations: [] }
  readonly #waiting = new WeakMap<IncomingMessage, TokenRequest>()

  /** A token request is on the list before it has an answer. */
  arrive(request: IncomingMessage): void {
    const entry: TokenRequest = { authentication: 'none', form: {} }
    this.#waiting.set(request, entry)
    this.lists.tokenRequests.push(entry)
  }

  fail(request: IncomingMessage, { status, asked }: Failed): void {
    const entry = this.#waiting.get(request)
    if (entry) fill(entry, Object.fromEntries(new URLSearchParams(asked)), request, status)
  }

  /** After the provider has made its answer. */
  finish({ req, path, method, status, body, oidc }: Context): void {
    const form = { ...oidc?.body }
    const entry = this.#waiting.get(req)
    if (entry) fill(entry, form, req, status, body, oidc?.client?.clientId)
    if (path === PATHS.registration && method === 'POST') {
      const client = member(body, 'client_id')
      this.lists.registrations.push({ metadata: form, status, ...(client !== undefined && { client }) })
    }
    if (path === PATHS.revocation)
      this.lists.revocations.push({ token: form['token'], hint: form['token_type_hint'], status })
  }
}

// --- internal ---

function fill(
  entry: TokenRequest,
  form: Record<string, unknown>,
  request: IncomingMessage,
  status: number | 'hang',
  body?: unknown,
  client: unknown = form['client_id'],
): void {
  const error = member(body, 'error')
  Object.assign(entry, {
    form,
    status,
    authentication: authentication(form, request),
    ...(typeof form['grant_type'] === 'string' && { grant: form['grant_type'] }),
    ...(typeof client === 'string' && { client }),
    ...(error !== undefined && { error }),
  })
}

function authentication(
  form: Record<string, unknown>,
  request: IncomingMessage,
): TokenRequest['authentication'] {
  if (request.headers.authorization?.startsWith('Basic ')) return 'basic'
  if (form['client_secret'] !== undefined) return 'post'
  return form['client_assertion'] === undefined ? 'none' : 'assertion'
}

function member(body: unknown, name: string): string | undefined {
  const value = typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined
  return typeof value === 'string' ? value : undefined
}
