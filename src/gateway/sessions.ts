// All sessions of a gateway: whose they are, how many there may be, and when they are forgotten.

import { Fault } from '../base/fault.ts'
import { type Actor, agentOf } from '../policy/access.ts'
import type { Forwarding } from './questions.ts'
import { Session } from './session.ts'
import { type Askable, openSession, sealSession } from './session-id.ts'
import { SpentIds } from './spent-ids.ts'

/** Milliseconds for which an id is worth something by itself. */
const WORTH = 24 * 60 * 60 * 1000
const SWEEP = 60_000

export interface SessionsOptions {
  readonly key: Buffer
  /** How many an agent may have. */
  readonly most: () => number
  readonly forwarding: Forwarding
  /** Milliseconds without a request or a stream after which a session is forgotten. */
  readonly idle: () => number
  /** Where it is kept which ids do not come back; undefined: nowhere, they are known in this run alone. */
  readonly spentFile?: string | undefined
  /** Told of errors that are ours alone. */
  readonly report: (error: unknown) => void
}

export class Sessions {
  readonly #options: SessionsOptions
  readonly #all = new Map<string, Session>()
  readonly #spent: SpentIds
  readonly #timer: NodeJS.Timeout

  constructor(options: SessionsOptions) {
    this.#options = options
    const { spentFile: file, report } = options
    this.#spent = new SpentIds({ file, worth: WORTH, report })
    this.#timer = setInterval(() => this.sweep(performance.now()), SWEEP)
    this.#timer.unref()
  }

  get size(): number {
    return this.#all.size
  }

  *[Symbol.iterator](): Generator<Session> {
    yield* this.#all.values()
  }

  create(
    actor: Actor,
    scope: string | undefined,
    agreed: { readonly version: string; readonly askable: Askable },
  ): Session {
    const claims = { agent: agentOf(actor), scope, ...agreed, since: Date.now() }
    return this.#add(sealSession(claims, this.#options.key), actor, scope, agreed)
  }

  /**
   * The session of an id, if it is this actor's and about this. One that was forgotten, or is of another run, comes back as
   * long as its id says all that there was to it; a client that had more is told to begin anew.
   */
  find(id: string, actor: Actor, scope: string | undefined): Session | undefined {
    const known = this.#all.get(id)
    if (known) {
      if (agentOf(known.actor) !== agentOf(actor) || known.scope !== scope) return undefined
      const now = performance.now()
      if (!this.#isIdle(known, now)) {
        known.used = now
        return known
      }
      this.#forget(known)
    }
    if (this.#spent.has(id)) return undefined
    const claims = openSession(id, this.#options.key)
    if (claims === undefined || claims.agent !== agentOf(actor) || claims.scope !== scope) return undefined
    if (Date.now() - claims.since > WORTH) return undefined
    return this.#add(id, actor, scope, claims)
  }

  /** Ends one for good. */
  end(session: Session): void {
    this.#spent.add(session.id)
    this.#forget(session)
  }

  /** Forgets those that nobody has used for long. */
  sweep(now: number): void {
    for (const session of this.#all.values()) if (this.#isIdle(session, now)) this.#forget(session)
  }

  close(): void {
    clearInterval(this.#timer)
    for (const session of this.#all.values()) session.close()
    this.#all.clear()
  }

  // --- internal ---

  #add(
    id: string,
    actor: Actor,
    scope: string | undefined,
    { version, askable }: { readonly version: string; readonly askable: Askable },
  ): Session {
    this.#makeRoom(actor)
    const { forwarding } = this.#options
    const grew = () => this.#spent.add(id)
    const session = new Session({ id, actor, scope, version, askable, forwarding, introduced: true, grew })
    this.#all.set(id, session)
    return session
  }

  #isIdle({ busy, used }: Session, now: number): boolean {
    return !busy && now - used > this.#options.idle()
  }

  /** The one that was not used for longest gives way; those in use do not. */
  #makeRoom(actor: Actor): void {
    const most = this.#options.most()
    if (this.#all.size < most) return
    const own = [...this.#all.values()].filter((session) => agentOf(session.actor) === agentOf(actor))
    if (own.length < most) return
    const idle = own.filter(({ busy }) => !busy).sort((one, other) => one.used - other.used)[0]
    if (idle === undefined)
      throw new Fault('GATEWAY_LIMIT', `${agentOf(actor) || 'the owner'} has ${most} sessions in use`, {
        hint: 'end one, or raise gateway.limits.sessions',
      })
    this.#forget(idle)
  }

  #forget(session: Session): void {
    this.#all.delete(session.id)
    session.close()
  }
}
