// One account on one server: where it is, how it signs in, and who may be asked to.

import { Fault } from '../../base/fault.ts'
import type { Environment } from '../../base/places.ts'
import type { OAuth } from '../../config/schema-server.ts'
import type { Secrets } from '../../secrets/secrets.ts'
import type { Resolve } from '../http/guard.ts'
import { ownerOf } from './grant.ts'
import { type Fetch, guardedFetch } from './guarded-fetch.ts'

export interface Account {
  readonly server: string
  /** Undefined: the server's own. */
  readonly name: string | undefined
  /** The server's address. */
  readonly url: string
  /** Every variable filled in. */
  readonly settings: OAuth
  readonly env: Environment
  readonly resolve?: Resolve | undefined
  readonly secrets: () => Promise<Secrets>
  /** Fires when nobody waits for anything any more. */
  readonly closing: AbortSignal
  /** Where a renewal is noted while it goes on. */
  readonly renewals: Set<Promise<unknown>>
  /** Where there is nobody to ask, a server that wants a person to sign in waits for `busbar login`. */
  readonly onSignIn?: OnSignIn | undefined
}

/** A person is to sign in. */
export interface SignInRequest {
  readonly server: string
  readonly account?: string | undefined
  /** To be opened in a browser, on whatever machine. */
  readonly url: string
  /** To be typed in there, where the browser is on another machine. */
  readonly userCode?: string | undefined
  /** Milliseconds since 1970; then it is given up. */
  readonly expires: number
  /** Takes the address at which the browser ended, when it could not come back by itself. Throws when it is another. */
  paste(address: string): void
  /** Fires when it is over, one way or the other. */
  readonly signal: AbortSignal
}

export type OnSignIn = (request: SignInRequest) => void | Promise<void>

export function ownerOfAccount({ server, name }: Account): string {
  return ownerOf(server, name)
}

export function fetchOf({ url, env, resolve }: Account, signal?: AbortSignal): Fetch {
  return guardedFetch({ server: url, env, resolve, signal })
}

/** Nothing can be done without a person. */
export function signInNeeded(
  account: Account,
  more: {
    readonly reason?: string | undefined
    readonly details?: Readonly<Record<string, unknown>> | undefined
    readonly cause?: unknown
  },
): Fault {
  const { server, name } = account
  const as = name === undefined ? '' : ` as ${name}`
  const because = more.reason === undefined ? '' : `: ${more.reason}`
  return new Fault('AUTH_REQUIRED', `${server} wants a person to sign in${as}${because}`, {
    hint: `run: ${loginCommand(account)}`,
    server,
    details: more.details,
    cause: more.cause,
  })
}

/** The command that signs in to it. */
export function loginCommand({ server, name }: Pick<Account, 'server' | 'name'>, scope?: string): string {
  const account = name === undefined ? '' : ` --account ${name}`
  const scopes = scope === undefined ? '' : ` --scope "${scope}"`
  return `busbar login ${server}${account}${scopes}`
}
