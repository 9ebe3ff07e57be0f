// One server over time: started, lost, tried again, watched. Its state is one of a few, and each knows only what is
// true in it.

import type { Fault } from '../base/fault.ts'
import type { Stop } from '../base/stop.ts'
import type { Agreement } from '../wire/era.ts'
import { type Failures, isOpen, pauseAfter, STEADY } from './backoff.ts'
import { retryAfter } from './busy.ts'
import type { ConnectionEvents } from './connection-events.ts'
import type { Tool } from './definitions.ts'
import { Ending } from './ending.ts'
import { DRAIN, Gate } from './gate.ts'
import { Health } from './health.ts'
import { type InstancePool, poolOf } from './instance-pool.ts'
import { Link, type LinkOptions } from './link.ts'
import { linkOptions } from './link-options.ts'
import { keepListening } from './listen.ts'
import type { Memory } from './memory.ts'
import { OlderLink } from './older.ts'
import { abortable, pause } from './pause.ts'
import type { Plan } from './plan.ts'
import { Refreshes } from './refresh.ts'
import { reportOf } from './report.ts'
import {
  faultOf,
  isDoubtful,
  isHopeless,
  isOffered,
  linkOf,
  offFault,
  RESTART,
  refusalIn,
  type State,
  tokenOf,
} from './state.ts'
import { Journal, type ServerStatus } from './status.ts'
import { type KnownTool, ToolList } from './tool-list.ts'

export class Connection {
  readonly plan: Plan
  readonly gate: Gate
  /** Those that calls go to, where it is not one for all. */
  readonly instances: InstancePool | undefined
  readonly #list: ToolList
  readonly #events: ConnectionEvents
  readonly #journal: Journal
  readonly #refresh: Refreshes
  readonly #health: Health
  #state: State = { kind: 'idle' }
  #attempt: Promise<Link> | undefined
  #stop = new AbortController()
  #failures: Failures = { count: 0, hopeless: false }
  #hidden = false
  #closing: Promise<void> | undefined
  readonly #ending: Ending
  readonly #older: OlderLink
  #heard: number | undefined

  /** `after`: what must be gone before this one starts, its predecessor of the same name. */
  constructor(
    plan: Plan,
    memory: Pick<Memory, 'read' | 'write'>,
    events: ConnectionEvents,
    after: Promise<unknown> = Promise.resolve(),
  ) {
    this.plan = plan
    this.#ending = new Ending(after)
    this.#events = events
    this.gate = new Gate(plan.name, plan.limits)
    this.#journal = new Journal(plan.secrets.scrub)
    this.#list = new ToolList({ plan, memory, complain: (text) => this.#journal.error(text) })
    this.#older = new OlderLink(plan.name, () => this.#linkOptions(this.#stop.signal))
    this.#refresh = new Refreshes(async (list) => {
      if (list === 'tools') await this.#fetchTools()
      else if (this.#state.kind !== 'closed') this.#events.lists(this, list)
    })
    this.#health = new Health(plan.health, plan.timeouts.call, {
      unwell: (link, error) => this.#unwell(link, error),
      well: (link) => this.#well(link),
    })
    this.instances = poolOf(this, { memory, events, after }, (...given) => new Connection(...given))
    if (plan.disabled !== undefined) this.#state = { kind: 'disabled', reason: plan.disabled }
    else if (plan.unusable) this.#state = { kind: 'unusable', error: plan.unusable }
  }

  get name(): string {
    return this.plan.name
  }

  /**
   * Its tools as they may be offered now: from its last run until it is up, none while it is down. One that is started by
   * calls keeps them: without them nobody would call, and it would stay down.
   */
  get tools(): readonly Tool[] {
    if (this.#hidden) return []
    return isOffered(this.#state, this.plan.eager)
      ? this.#list.all.filter((tool) => this.plan.offers(tool.name))
      : []
  }

  /** All it listed when it was last asked in this run, offered or not; undefined while that is only remembered. */
  get listed(): readonly Tool[] | undefined {
    return this.#list.given
  }

  /** Why nothing of it may be used now, when it is switched off or gone. */
  get off(): Fault | undefined {
    const { kind } = this.#state
    return this.#hidden || kind === 'disabled' || kind === 'closed' ? this.#off() : undefined
  }

  get connected(): boolean {
    return this.#state.kind === 'connected'
  }

  /** The link when it is up and offered; for the fast way. */
  get live(): Link | undefined {
    return this.#state.kind === 'connected' && !this.#hidden ? this.#state.link : undefined
  }

  /** What it said of itself, now or the last time. */
  get agreement(): Agreement | undefined {
    return linkOf(this.#state)?.agreement ?? this.#list.remembered?.agreement
  }

  /** The way for a client of the older era that may be asked back, where it takes no second process; else undefined. */
  async older({ agreement }: Link, signal: Stop): Promise<Link | undefined> {
    if (agreement.era === 'legacy' || this.plan.transport !== 'http' || this.plan.era) return undefined
    return await this.#older.get(signal)
  }

  /** A tool by its name, if it may be offered. */
  tool(name: string): KnownTool | undefined {
    return !this.plan.filters || this.plan.offers(name) ? this.#list.find(name) : undefined
  }

  /** How often it said that a list changed; it is told to others now and then only. */
  changes(list: 'resources' | 'prompts'): number {
    return this.#refresh.count(list)
  }

  /** Whether it lists something that is not offered. */
  get leavesOut(): boolean {
    return this.#list.leavesOut
  }

  /** Asks it once more for its tools, for a name that is not among them; not every server says that they changed. */
  async relist(isKnownOld = this.#list.isOld): Promise<void> {
    await this.#refresh.now('tools', isKnownOld)
  }

  /** Fires when it is stopped; with `RESTART` as the reason when only to be started anew. */
  get stopping(): AbortSignal {
    return this.#stop.signal
  }

  /** Whether its tools are known, from this run or an earlier one. */
  get known(): boolean {
    return this.#list.remembered !== undefined
  }

  /** The connection as it is needed for a call: started, waited for, or refused with the reason. */
  async ready(signal?: Stop): Promise<Link> {
    const state = this.#state
    if (this.#hidden || state.kind === 'disabled' || state.kind === 'closed') throw this.#off()
    if (state.kind === 'connected') return state.link
    const refused = refusalIn(state, tokenOf(this.plan), isOpen(this.#failures))
    if (refused) throw refused
    const { stopping } = this
    const attempt = this.#attempt ?? this.#start(0)
    try {
      return await (signal === undefined ? attempt : abortable(attempt, signal, this.name))
    } catch (error) {
      if (stopping.reason !== RESTART || signal?.aborted) throw error
      return await this.ready(signal)
    }
  }

  /** Starts it if it is not up. Does not throw: what goes wrong is in its status. */
  async connect(): Promise<void> {
    const { kind } = this.#state
    if (kind === 'idle' || kind === 'waiting' || kind === 'needs-auth') {
      this.#failures = { count: 0, hopeless: false }
      if (kind !== 'idle') await this.disconnect(0, RESTART)
      await this.#start(0).catch(() => undefined)
    } else await this.#attempt?.catch(() => undefined)
  }

  /** Resolves when the attempt that is under way has ended, well or not. */
  async settled(): Promise<void> {
    if (this.#state.kind === 'starting' || this.#state.kind === 'idle')
      await this.#attempt?.catch(() => undefined)
  }

  /** Stops it; the next call starts it again, and with `RESTART` those that wait for it already. `drain`: see `#end`. */
  async disconnect(drain = 0, why?: typeof RESTART): Promise<void> {
    const { kind } = this.#state
    if (kind === 'disabled' || kind === 'closed' || kind === 'unusable') return
    await this.#end({ kind: 'idle' }, drain, why)
  }

  /** Stops it and starts it again, after calls that are under way have finished, within bounds. */
  async reconnect(): Promise<void> {
    if (this.#state.kind === 'disabled') throw this.#off()
    await this.gate.drained(DRAIN)
    await this.disconnect(0, RESTART)
    await this.connect()
  }

  /** Hides its tools or shows them again; the connection stays as it is. */
  async toggle(visible: boolean): Promise<void> {
    if (visible && this.#state.kind === 'disabled') await this.enable()
    if (this.#hidden === !visible) return
    this.#show(visible)
    if (visible && this.#state.kind === 'idle') await this.connect()
  }

  /** Stops it until it is enabled. */
  async disable(drain = 0): Promise<void> {
    if (this.#state.kind !== 'closed') await this.#end({ kind: 'disabled', reason: 'it was disabled' }, drain)
  }

  async enable(): Promise<void> {
    if (this.#hidden) this.#show(true)
    if (this.#state.kind !== 'disabled') return
    if (this.plan.unusable) {
      this.#set({ kind: 'unusable', error: this.plan.unusable })
      throw this.plan.unusable
    }
    this.#set({ kind: 'idle' })
    await this.connect()
  }

  /** Lets calls that are under way finish, within bounds, then ends for good. `withAll`: because everything stops. */
  close(drain = 0, withAll = false): Promise<void> {
    const end = () => this.#end({ kind: 'closed', withAll })
    this.#closing ??= this.gate.drained(Math.min(drain, DRAIN)).then(end)
    return this.#closing
  }

  status(): ServerStatus {
    return reportOf({
      plan: this.plan,
      state: this.#state,
      hidden: this.#hidden,
      agreement: this.agreement,
      tools: this.tools,
      heard: this.#heard,
      inFlight: this.gate.inside,
      instances: this.instances?.size,
      journal: this.#journal,
    })
  }

  // --- internal ---

  #show(visible: boolean): void {
    this.#hidden = !visible
    this.#events.status(this)
    this.#events.tools(this)
  }

  #start(delay: number): Promise<Link> {
    if (this.#attempt) return this.#attempt
    const attempt = this.#open(delay, this.#stop.signal)
    this.#attempt = attempt
    // Whoever waits for it gets the error; nobody has to wait.
    attempt.catch(() => undefined)
    return attempt
  }

  async #open(delay: number, signal: AbortSignal): Promise<Link> {
    if (delay > 0) await pause(delay, signal)
    // Not after it was told to stop: then it is itself among what must be gone.
    if (!signal.aborted) await this.#ending.gone(signal)
    if (signal.aborted) throw this.#off()
    this.#set({ kind: 'starting' })
    try {
      const link = await Link.connect(await this.#linkOptions(signal))
      await this.#adopt(link, signal)
      return link
    } catch (error) {
      const fault = this.#fail(error, signal)
      if (isDoubtful(fault)) this.#list.doubt()
      throw fault
    }
  }

  #linkOptions(signal: AbortSignal): Promise<LinkOptions> {
    return linkOptions(this.plan, this.#list, signal, {
      changed: (list) => this.#refresh.ask(list),
      notification: (message) => this.#events.notification(this, message),
      oddity: (text) => this.#journal.oddity(text),
      closed: (fault) => this.#lost(fault, signal),
    })
  }

  /** The tools come first: whoever waits for the connection may list right away. */
  async #adopt(link: Link, signal: AbortSignal): Promise<void> {
    try {
      if (!signal.aborted) await this.#list.fetch(link, signal)
      if (signal.aborted) throw this.#off()
    } catch (error) {
      this.#ending.add(link.close())
      throw error
    }
    const now = Date.now()
    this.#heard = now
    this.#attempt = undefined
    this.#set({ kind: 'connected', link, since: now })
    this.#events.tools(this)
    this.#health.watch(link, signal)
    void keepListening(link, signal, (list) => this.#refresh.ask(list))
  }

  async #fetchTools(): Promise<void> {
    const state = this.#state
    if (state.kind !== 'connected') return
    try {
      if (await this.#list.fetch(state.link)) this.#events.tools(this)
    } catch (error) {
      this.#journal.error(error instanceof Error ? error.message : String(error))
    }
  }

  #unwell(link: Link, error: Fault): void {
    if (this.#state.kind !== 'connected' || this.#state.link !== link) return
    this.#journal.error(error.message)
    this.#set({ ...this.#state, kind: 'unwell', error })
    this.#events.tools(this)
  }

  #well(link: Link): void {
    this.#heard = Date.now()
    if (this.#state.kind !== 'unwell' || this.#state.link !== link) return
    this.#set({ kind: 'connected', link, since: this.#state.since })
    this.#events.tools(this)
    this.#refresh.ask('tools')
  }

  /** The transport is gone under a live connection: try again, later and later. */
  #lost(fault: Fault, signal: AbortSignal): void {
    const state = this.#state
    if (signal.aborted || (state.kind !== 'connected' && state.kind !== 'unwell')) return
    if (Date.now() - state.since > STEADY) this.#failures = { count: 0, hopeless: false }
    this.#ending.add(Promise.all([state.link.close(), this.#older.close()]))
    this.#fail(fault, signal)
  }

  /** Notes a failure and plans the next try; returns what callers are told. */
  #fail(error: unknown, signal: AbortSignal): Fault {
    // Whoever waits for it has cancelled nothing: it was stopped.
    if (signal.aborted) return this.#off()
    const fault = this.plan.secrets.clean(faultOf(error, this.name))
    this.#attempt = undefined
    this.#journal.error(fault.message)
    if (fault.code === 'AUTH_REQUIRED')
      this.#set({ kind: 'needs-auth', error: fault, token: tokenOf(this.plan) })
    else {
      this.#failures = { count: this.#failures.count + 1, hopeless: isHopeless(fault) }
      // A server that says when to come back is taken at its word.
      const wait = Math.max(retryAfter(fault) ?? 0, pauseAfter(this.#failures, Math.random()))
      this.#set({ kind: 'waiting', error: fault, until: Date.now() + wait })
      if (this.plan.eager) void this.#start(Math.max(1, wait)).catch(() => undefined)
    }
    this.#events.tools(this)
    return fault
  }

  /** `drain`: milliseconds that calls under way have to finish; no new one begins meanwhile. */
  async #end(next: State, drain = 0, why?: typeof RESTART): Promise<void> {
    const link = linkOf(this.#state)
    const [stop, attempt] = [this.#stop, this.#attempt]
    const drained = link && drain > 0 ? this.gate.drained(drain) : undefined
    if (!drained) stop.abort(why)
    this.#stop = new AbortController()
    this.#attempt = undefined
    this.gate.clear(offFault(this.name, next.kind === 'closed' ? next : this.#state, this.#hidden))
    this.#set(next)
    this.#events.tools(this)
    const close = () => Promise.all([stop.abort(), link?.close(), this.#older.close()])
    const closed = drained ? drained.then(close) : close()
    // An attempt ends what it has opened by itself.
    const instances = why ? this.instances?.restartAll() : this.instances?.endAll(this.#off(), drain)
    this.#ending.add(Promise.allSettled([closed, instances, attempt]))
    await this.#ending.gone()
  }

  #set(state: State): void {
    if (this.#state.kind === 'closed') return
    this.#state = state
    this.#events.status(this)
  }

  #off(): Fault {
    return offFault(this.name, this.#state, this.#hidden)
  }
}
