// What the ways of signing in have in common.

import type { Account, OnSignIn, SignInRequest } from './account.ts'
import type { Binding } from './binding.ts'
import type { Registrar } from './client.ts'
import type { Authority } from './discovery.ts'

/** How long a person may take. */
export const PATIENCE = 5 * 60_000

/** All that a way of signing in needs. */
export interface Way {
  readonly account: Account
  readonly authority: Authority
  readonly registrar: Registrar
  readonly scope: string | undefined
  readonly binding: Binding | undefined
  readonly show: OnSignIn
  readonly signal?: AbortSignal | undefined
}

/** Shows a person where to go until something came of it, or until it turns out that it cannot be shown. */
export async function showUntil<T>(
  { account, show, signal }: Way,
  where: Pick<SignInRequest, 'url' | 'userCode' | 'expires' | 'paste'>,
  wait: (stop: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = new AbortController()
  const { server, name } = account
  try {
    const shown = Promise.resolve(show({ server, account: name, ...where, signal: over.signal }))
    const failed = new Promise<never>((_, reject) => {
      shown.catch(reject)
    })
    return await Promise.race([wait(signal ? AbortSignal.any([signal, over.signal]) : over.signal), failed])
  } finally {
    over.abort()
  }
}
