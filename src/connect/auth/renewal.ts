// Has a token renewed exactly once, however many calls of however many processes need it at the same time.

import { Fault } from '../../base/fault.ts'
import { type Account, fetchOf, ownerOfAccount, signInNeeded } from './account.ts'
import { newBinding, sessionOf } from './binding.ts'
import type { Challenge } from './challenge.ts'
import { forgetClient, writtenClient } from './client.ts'
import { discover, refuseOtherAuthority } from './discovery.ts'
import { refreshed, requestTokens } from './exchange-tokens.ts'
import { type Grant, grantVersion, isExpired, type KeptGrant, keepGrant, readGrant } from './grant.ts'
import { scopeFor } from './sign-in.ts'
import { asSignInFault, isPassing, oauthCode, said, signInFailed } from './trouble.ts'

export class Renewal {
  readonly #account: Account
  readonly #owner: string
  #underWay: Promise<KeptGrant> | undefined
  /** Until then nobody is asked again after trouble on the way. */
  #notBefore = 0
  #failures = 0
  #trouble: Fault | undefined

  constructor(account: Account) {
    this.#account = account
    this.#owner = ownerOfAccount(account)
  }

  /** Whether the program gets tokens for itself, without a person. */
  get isMachine(): boolean {
    return this.#account.settings.grant === 'client_credentials'
  }

  /** Whether there is a way to the next token without a person. */
  isPossible(kept: KeptGrant | undefined): boolean {
    return this.isMachine || kept?.grant.refresh !== undefined
  }

  /**
   * The token after `stale`. `isRefused`: the server does not take that one any more, so it is no way out when the next
   * cannot be had.
   */
  async next(
    stale: KeptGrant | undefined,
    { isRefused, challenge }: { readonly isRefused: boolean; readonly challenge?: Challenge | undefined },
  ): Promise<KeptGrant> {
    this.#underWay ??= this.#begin(stale, challenge)
    try {
      return await this.#underWay
    } catch (error) {
      if (stale !== undefined && !isRefused && !isExpired(stale.grant)) return stale
      throw error
    }
  }

  // --- internal ---

  #begin(stale: KeptGrant | undefined, challenge: Challenge | undefined): Promise<KeptGrant> {
    const { renewals } = this.#account
    const renewing = this.#renew(stale, challenge).finally(() => {
      this.#underWay = undefined
      renewals.delete(renewing)
    })
    renewals.add(renewing)
    return renewing
  }

  async #renew(stale: KeptGrant | undefined, challenge: Challenge | undefined): Promise<KeptGrant> {
    if (this.#trouble && Date.now() < this.#notBefore) throw this.#trouble
    const secrets = await this.#account.secrets()
    const read = () => readGrant(secrets, this.#owner, this.#account.url)
    return await secrets.exclusively(this.#owner, async () => {
      const before = read()
      // Somebody else was here first.
      if (before && before.version !== stale?.version && !isExpired(before.grant)) return before
      const version = grantVersion(secrets, this.#owner)
      try {
        const grant = await this.#ask(before?.grant, challenge)
        this.#trouble = undefined
        this.#failures = 0
        await keepGrant(secrets, this.#owner, grant, version)
      } catch (error) {
        await this.#failed(error, before)
      }
      // Not what was asked for: where a person signed in meanwhile, theirs counts.
      const now = read()
      if (now === undefined) throw this.#signInAgain()
      return now
    })
  }

  async #ask(grant: Grant | undefined, challenge: Challenge | undefined): Promise<Grant> {
    const { url: server, settings } = this.#account
    const exchanging = { server, settings, fetch: fetchOf(this.#account) }
    if (!this.isMachine) {
      if (grant?.refresh === undefined) throw this.#signInAgain()
      return await refreshed(exchanging, grant, grant.key ? await sessionOf(grant.key) : undefined)
    }
    const client = writtenClient(settings)
    if (client === undefined)
      throw signInFailed(
        'client_credentials needs a client',
        'set auth.clientId, and clientSecret or privateKey',
      )
    const authority = await discover(server, settings, challenge, exchanging.fetch)
    refuseOtherAuthority(authority, settings, grant?.issuer)
    const scope = scopeFor(settings, challenge, authority, { before: grant?.scope })
    const binding = authority.bindsTokens ? await newBinding() : undefined
    const asked = { grant_type: 'client_credentials' }
    const parameters = scope === undefined ? asked : { ...asked, scope }
    return await requestTokens(exchanging, authority, client, parameters, binding)
  }

  /** Throws, unless somebody else has got a better one meanwhile. */
  async #failed(error: unknown, used: KeptGrant | undefined): Promise<void> {
    const { secrets, url } = this.#account
    const code = oauthCode(error)
    if (isPassing(error)) {
      const fault = asSignInFault(error, `the token for ${this.#account.server} could not be renewed`)
      this.#failures += 1
      const wait = Number(fault.details?.['retryAfter'] ?? 0)
      this.#notBefore = Date.now() + Math.max(wait, Math.min(LONGEST_PAUSE, 500 * 2 ** this.#failures))
      this.#trouble = fault
      throw fault
    }
    const store = await secrets()
    const now = readGrant(store, this.#owner, url)
    if (now && now.version !== used?.version) return
    const isUnknown = code === 'invalid_client' || code === 'unauthorized_client'
    // No person can help a program that signs in by itself.
    if (this.isMachine && isUnknown)
      throw new Fault('SIGN_IN_FAILED', `no token for ${this.#account.server}: ${said(code)}`, {
        hint: 'check auth.clientId, and clientSecret or privateKey',
        server: this.#account.server,
        cause: error,
      })
    if (isUnknown) {
      if (used) await forgetClient({ secrets: store, owner: this.#owner }, used.grant.issuer)
    } else if (code !== 'invalid_grant' || this.isMachine) {
      throw asSignInFault(error, `no token for ${this.#account.server}`)
    }
    // It will not be asked for again; the token itself may serve until its end. Only this one: never a newer one.
    if (used) await keepGrant(store, this.#owner, { ...used.grant, refresh: undefined }, used.version)
    throw this.#signInAgain(error)
  }

  #signInAgain(cause?: unknown): Fault {
    const reason = cause === undefined ? 'there is no token' : `it was not renewed: ${said(oauthCode(cause))}`
    return signInNeeded(this.#account, { reason, cause })
  }
}

const LONGEST_PAUSE = 60_000
