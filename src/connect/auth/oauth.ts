// Signs requests with a token of an account: the one that is kept, renewed before it ends, or newly given by a person.

import type { IncomingHttpHeaders } from 'node:http'
import type { DpopSession } from '@modelcontextprotocol/client'
import { Fault } from '../../base/fault.ts'
import type { Secrets } from '../../secrets/secrets.ts'
import type { Credential, Signature } from '../http/credential.ts'
import type { Refusal } from '../http/refusal.ts'
import { type Account, loginCommand, ownerOfAccount, signInNeeded } from './account.ts'
import { sessionOf } from './binding.ts'
import { type Challenge, challengeIn } from './challenge.ts'
import { isEnding, isExpired, type KeptGrant, learnGrant, readGrant } from './grant.ts'
import { Renewal } from './renewal.ts'
import { said } from './trouble.ts'

export class OAuthCredential implements Credential {
  readonly #account: Account
  readonly #owner: string
  readonly #renewal: Renewal
  #kept: KeptGrant | undefined
  #signature: Signature | undefined
  #session: DpopSession | undefined
  #signingIn: Promise<void> | undefined
  #secrets: Secrets | undefined
  /** When what is kept was last compared with what is used. */
  #looked = 0

  constructor(account: Account) {
    this.#account = account
    this.#owner = ownerOfAccount(account)
    this.#renewal = new Renewal(account)
  }

  get version(): unknown {
    try {
      return this.#secrets && readGrant(this.#secrets, this.#owner, this.#account.url)?.version
    } catch {
      // What is wrong with it is told by whoever needs it.
      return undefined
    }
  }

  sign(method: string, url: URL): Signature | Promise<Signature> {
    const kept = this.#kept
    if (kept === undefined || isEnding(kept.grant) || this.#isReplaced(kept))
      return this.#obtain().then(() => this.#signed(method, url))
    return this.#signed(method, url)
  }

  async refused(refusal: Refusal, signature: Signature, attempt: number): Promise<boolean> {
    const challenge = challengeIn(refusal.headers['www-authenticate'])
    // The number to use was in the answer, and is known by now.
    if (challenge?.error === 'use_dpop_nonce' && this.#session) return true
    const newest = await this.#read()
    // Another call, or another process, has got a new one meanwhile.
    if (newest && newest.version !== signature.token) {
      await this.#adopt(newest)
      return true
    }
    if (refusal.status === 403) return await this.#widen(challenge, newest)
    // The token that somebody else got meanwhile may be refused as well.
    if (attempt <= 2 && this.#renewal.isPossible(newest)) {
      try {
        await this.#adopt(await this.#renewal.next(newest, { isRefused: true, challenge }))
        return true
      } catch (error) {
        if (!(error instanceof Fault && error.code === 'AUTH_REQUIRED') || !this.#account.onSignIn)
          throw error
      }
    }
    if (!this.#account.onSignIn || this.#renewal.isMachine) throw this.#required(challenge, refusal)
    await this.#signIn(challenge)
    return true
  }

  recall(): void {
    this.#looked = 0
  }

  answered(headers: IncomingHttpHeaders, url: URL): void {
    const nonce = headers['dpop-nonce']
    if (typeof nonce === 'string') this.#session?.rememberNonce(url, nonce)
  }

  // --- internal ---

  #signed(method: string, url: URL): Signature | Promise<Signature> {
    const kept = this.#kept
    // Not every server wants a token for everything; and only a refusal says what it wants.
    if (kept === undefined || this.#signature === undefined) return UNSIGNED
    const session = this.#session
    return session ? bound(kept, session, method, url) : this.#signature
  }

  /** Whether a person signed in anew or out meanwhile, here or elsewhere; looked after once in a while only. */
  #isReplaced({ version }: KeptGrant): boolean {
    const now = Date.now()
    if (this.#secrets === undefined || Math.abs(now - this.#looked) < GLANCE) return false
    this.#looked = now
    try {
      return readGrant(this.#secrets, this.#owner, this.#account.url)?.version !== version
    } catch {
      // What cannot be read just now is no reason to stop using what works.
      return false
    }
  }

  async #read(): Promise<KeptGrant | undefined> {
    this.#secrets = await this.#account.secrets()
    return readGrant(this.#secrets, this.#owner, this.#account.url)
  }

  async #obtain(): Promise<void> {
    const kept = await this.#read()
    const isUsable = kept !== undefined && !isExpired(kept.grant)
    if (kept && !isEnding(kept.grant)) return await this.#adopt(kept)
    if (!this.#renewal.isPossible(kept)) {
      if (isUsable) return await this.#adopt(kept)
      this.#drop()
      return
    }
    const next = this.#renewal.next(kept, { isRefused: false })
    if (!isUsable) return await this.#adopt(await next)
    // It ends soon: the next one is on its way, and nobody has to wait for it.
    await this.#adopt(kept)
    next.then((later) => this.#adopt(later)).catch(() => undefined)
  }

  async #adopt(kept: KeptGrant): Promise<void> {
    const { grant, version } = kept
    if (this.#kept?.version !== version)
      this.#session = grant.isBound && grant.key ? await sessionOf(grant.key) : undefined
    learnGrant(grant, this.#owner)
    this.#kept = kept
    this.#signature = { headers: ['authorization', `Bearer ${grant.access}`], token: version }
  }

  #drop(): void {
    this.#kept = undefined
    this.#signature = undefined
    this.#session = undefined
  }

  /** The server wants more rights than the token has. */
  async #widen(challenge: Challenge | undefined, kept: KeptGrant | undefined): Promise<boolean> {
    const has = new Set(kept?.grant.scope?.split(' '))
    const lacks = (challenge?.scope ?? '').split(/\s+/).filter((word) => word !== '' && !has.has(word))
    const { server, onSignIn } = this.#account
    const wanted = lacks.join(' ')
    // Asking for what we have would only bring the same token again.
    if (onSignIn && lacks.length > 0 && !this.#renewal.isMachine) {
      await this.#signIn(challenge)
      return true
    }
    throw new Fault(
      'AUTH_REQUIRED',
      lacks.length > 0
        ? `${server} wants more rights than were given: ${said(wanted)}`
        : `${server} refuses this in spite of the rights it asked for`,
      {
        hint: lacks.length > 0 ? `run: ${loginCommand(this.#account, said(wanted))}` : 'ask whoever runs it',
        server,
        details: { status: 403, scope: said(challenge?.scope) },
      },
    )
  }

  /** One dialogue at a time, whoever needs it. */
  async #signIn(challenge: Challenge | undefined): Promise<void> {
    const { onSignIn: show } = this.#account
    if (show === undefined) return
    this.#signingIn ??= import('./sign-in.ts')
      .then(({ signIn }) => signIn(this.#account, { show, challenge }))
      .then(async () => {
        const kept = await this.#read()
        if (kept) await this.#adopt(kept)
      })
      .finally(() => {
        this.#signingIn = undefined
      })
    await this.#signingIn
  }

  #required(challenge: Challenge | undefined, { status }: Refusal): Fault {
    const details = { status, ...(challenge?.scope === undefined ? {} : { scope: said(challenge.scope) }) }
    if (!this.#renewal.isMachine) return signInNeeded(this.#account, { details })
    const { server } = this.#account
    const hint = 'check auth.clientId, scopes and resource'
    return new Fault('AUTH_REQUIRED', `${server} does not take the token it asked for`, {
      hint,
      server,
      details,
    })
  }
}

/** Milliseconds for which a token that a person gave up may still be used by another process. */
const GLANCE = 1_000

const UNSIGNED: Signature = { headers: [], token: undefined }

async function bound(
  { grant, version }: KeptGrant,
  session: DpopSession,
  method: string,
  url: URL,
): Promise<Signature> {
  const proof = await session.buildProof({ htm: method, htu: url, accessToken: grant.access })
  return { headers: ['authorization', `DPoP ${grant.access}`, 'dpop', proof], token: version }
}
