// Signing in to a server, and out of it again, as a person asks for it.

import type { Account, OnSignIn } from './auth/account.ts'
import { type Grant, learnGrant, ownerOf } from './auth/grant.ts'
import { said } from './auth/trouble.ts'
import type { Connection } from './connection.ts'

export interface LoginOptions {
  /** One of the server's `accounts`; default: its own way to sign in. */
  readonly account?: string | undefined
  /** Scopes to ask for on top of what there is. */
  readonly scopes?: readonly string[] | undefined
  /** With a code that is typed in on another device. */
  readonly device?: boolean | undefined
  /** Shows a person where to sign in. */
  readonly onSignIn: OnSignIn
  readonly signal?: AbortSignal | undefined
}

/** What came of it, without anything secret. */
export interface Login {
  readonly server: string
  readonly account: string | undefined
  /** Who gave the token. */
  readonly issuer: string
  readonly scopes: readonly string[]
  /** Milliseconds since 1970; undefined where nothing was said. */
  readonly expires: number | undefined
  /** Whether it goes on after that without a person. */
  readonly renews: boolean
}

export interface Logout {
  readonly server: string
  readonly account: string | undefined
  /** Whether there was anything. */
  readonly wasSignedIn: boolean
  /** Whether whoever gave the token has taken it back. */
  readonly isRevoked: boolean
}

export async function login({ plan }: Connection, options: LoginOptions): Promise<Login> {
  const account = plan.accounts.signIn(plan.resolved(), options.account)
  const { signIn } = await import('./auth/sign-in.ts')
  const grant = await signIn(account, {
    show: options.onSignIn,
    more: options.scopes?.join(' '),
    byDevice: options.device,
    signal: options.signal,
  })
  learnGrant(grant, ownerOf(account.server, account.name))
  return describe(account, grant)
}

/** What is kept goes in any case; that it is taken back elsewhere as well is tried. */
export async function logout({ plan }: Connection, name: string | undefined): Promise<Logout> {
  const { server, name: account, secrets, env } = plan.accounts.signIn(plan.resolved(), name)
  const store = await secrets()
  const { accountsKept, forgetServer } = await import('./forget.ts')
  const wasSignedIn = accountsKept(store, server).includes(account)
  const [done] = wasSignedIn ? await forgetServer(store, server, [account], env) : []
  return { server, account, wasSignedIn, isRevoked: done?.isRevoked === true }
}

// --- internal ---

function describe({ server, name: account }: Account, grant: Grant): Login {
  const { issuer, scope, expires, refresh } = grant
  // They are somebody else's words.
  const scopes =
    scope
      ?.split(' ')
      .map(said)
      .filter((word) => word !== '') ?? []
  return { server, account, issuer: said(issuer), scopes, expires, renews: refresh !== undefined }
}
