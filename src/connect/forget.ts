// Erases what was kept for a server, configured or not, and has its tokens taken back where that can be done.

import type { Environment } from '../base/places.ts'
import type { Secrets } from '../secrets/secrets.ts'
import { revoke } from './auth/exchange-tokens.ts'
import { ownerOf, readAnyGrant } from './auth/grant.ts'
import { guardedFetch } from './auth/guarded-fetch.ts'

export interface Forgotten {
  /** Undefined: the server's own. */
  readonly account: string | undefined
  /** Whether whoever gave the token has taken it back. */
  readonly isRevoked: boolean
}

/** The accounts of a server that something is kept for; undefined stands for its own. */
export function accountsKept(secrets: Secrets, server: string): (string | undefined)[] {
  const own = ownerOf(server)
  const owners = new Set(secrets.list().map(({ owner }) => owner))
  return [...owners].flatMap((owner) => {
    if (owner === own) return [undefined]
    return owner.startsWith(`${own}#`) ? [owner.slice(own.length + 1)] : []
  })
}

export async function forgetServer(
  secrets: Secrets,
  server: string,
  accounts: readonly (string | undefined)[],
  env: Environment,
  signal?: AbortSignal,
): Promise<Forgotten[]> {
  return await Promise.all(
    accounts.map(async (account) => {
      const owner = ownerOf(server, account)
      const grant = readAnyGrant(secrets, owner)
      // Erased first: whatever becomes of the rest, nobody uses it from here any more.
      for (const { field } of secrets.list().filter((it) => it.owner === owner))
        await secrets.remove(owner, field)
      const fetch = grant && guardedFetch({ server: grant.server, env, signal })
      const isRevoked = grant && fetch ? await revoke({ fetch }, grant).catch(() => false) : false
      return { account, isRevoked }
    }),
  )
}
