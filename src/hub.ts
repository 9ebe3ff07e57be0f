// The hub: all layers wired into one object. Gateway, command line and embedding programs use it alike.

import { changed } from './base/changes.ts'
import { eventStream, tellAll } from './base/event-stream.ts'
import { Fault } from './base/fault.ts'
import { type Places, placesOf } from './base/places.ts'
import { VERSION } from './base/version.ts'
import { sees } from './call/admit.ts'
import { Brakes } from './call/brakes.ts'
import type { CallContext, Surface } from './call/context.ts'
import { AgentHandle } from './call/handle.ts'
import { ownTools } from './call/own-tools.ts'
import { Spill } from './call/spill.ts'
import { Surfaces } from './call/surface.ts'
import { Validators } from './call/validate.ts'
import { Views } from './call/view.ts'
import type { Snapshot } from './config/snapshot.ts'
import type { Program } from './config/tree.ts'
import type { Handlers } from './connect/answers.ts'
import type { InProcessServer } from './connect/in-process.ts'
import { settingsOf } from './connect/instances.ts'
import { type Applied, type Change, Manager } from './connect/manager.ts'
import { rest } from './connect/pause.ts'
import { closeInheritedFiles } from './connect/process/inherited-files.ts'
import { type Ledger, openLedger, reapDeadOwners } from './connect/process/ledger.ts'
import { HubConversations } from './hub-conversations.ts'
import { type Loaded, loadActive } from './hub-load.ts'
import type { HubEvent, HubOptions, Next } from './hub-options.ts'
import { HubServers } from './hub-servers.ts'
import { type Actor, actorOf, OWNER } from './policy/access.ts'
import type { ApprovalDesk, Approver } from './policy/approvals.ts'
import type { EnergyChange, Regulator } from './policy/energy.ts'
import { NO_RULES, Rulebook } from './policy/facts.ts'
import { PinWatch } from './policy/pin-watch.ts'
import type { PinBoard } from './policy/pins.ts'
import type { EndedCall } from './record/ended.ts'
import type { ObservedBy } from './record/observe.ts'
import { present, Records } from './record/records.ts'
import { loadTracing, type Tracing } from './record/trace.ts'
import type { NativeTool } from './registry/native.ts'
import { Registry } from './registry/registry.ts'
import { isKept } from './secrets/kept.ts'
import type { Invocations } from './store/invocation.ts'
import type { Store } from './store/store.ts'

export type { HubEvent, HubOptions }

/** Milliseconds for tokens that are on their way when a hub is closed. */
const RENEWAL_PATIENCE = 5_000

/** Reads the configuration, ends what an earlier run left behind, and starts what starts by itself. */
export async function createHub(options: HubOptions = {}): Promise<Hub> {
  const hub = new Hub(options)
  await hub.start()
  return hub
}

/** The same for what is already read: used by the command line, which said what is wrong with it. */
export async function hubOf(active: Snapshot, options: HubOptions = {}): Promise<Hub> {
  const hub = new Hub({ ...options, env: active.env }, active.places)
  // This process is Busbar's own, so what it was given open is not for servers.
  closeInheritedFiles()
  await hub.startWith(active)
  return hub
}

export class Hub {
  readonly places: Places
  /** @internal All servers of an agent as one. */
  readonly surfaces: Surfaces
  readonly servers: HubServers
  /** Talks with the built-in agent. */
  readonly conversations: HubConversations
  readonly #options: HubOptions
  readonly #manager: Manager
  readonly #listeners = new Set<(event: HubEvent) => void>()
  readonly #emit = (event: HubEvent): void => tellAll(this.#listeners, event)
  #instances: Readonly<Record<string, InProcessServer>> = {}
  readonly #context: CallContext
  readonly #registry: Registry
  readonly #pins: PinWatch
  #records: Records | undefined
  #tracing: Tracing | undefined
  #brakes: Brakes | undefined
  #rules: Rulebook | undefined
  #config: HubOptions['config']
  #active: Snapshot | undefined
  #ledger: Ledger | undefined
  #closed: Promise<void> | undefined
  #work: Promise<unknown> = Promise.resolve()
  #ended = false
  readonly #closing = new AbortController()
  readonly #renewals = new Set<Promise<unknown>>()

  constructor(options: HubOptions, places?: Places) {
    const env = options.env ?? process.env
    this.#options = options
    this.#config = options.config
    if (options.onEvent) this.#listeners.add(options.onEvent)
    this.places = places ?? placesOf(options.home === undefined ? env : { ...env, BUSBAR_HOME: options.home })
    const handlers: Handlers = options
    this.#manager = new Manager(
      this.places,
      {
        client: { name: 'busbar', version: VERSION },
        handlers,
        instance: (name) => this.#instances[name],
        ledger: () => this.#openLedger(),
        signingIn: {
          secrets: async () => (await import('./secrets/secrets.ts')).openSecrets(this.places, env),
          isKept: (owner) => isKept(this.places, owner),
          onSignIn: options.onSignIn,
          closing: this.#closing.signal,
          renewals: this.#renewals,
        },
      },
      (event) => {
        this.#pins.hear(event)
        this.surfaces.hear(event)
        if (event.type === 'server-status' && event.status.status === 'connected')
          this.#context.validators.prepare(this.#manager.find(event.server)?.tools ?? [])
        this.#emit(event)
      },
    )
    this.servers = new HubServers({
      manager: this.#manager,
      apply: (next, by) => this.#apply(next, by),
      settings: () => settingsOf(this.snapshot),
      isStarted: () => this.#options.start !== false,
    })
    this.#pins = new PinWatch(this.#manager)
    this.#registry = new Registry(this.#manager)
    const rules = () => this.#rules ?? NO_RULES
    const trouble = (message: string) => this.#emit({ type: 'trouble', message })
    const spill = new Spill(this.places, rules, () => this.snapshot, trouble)
    const context: CallContext = {
      manager: this.#manager,
      registry: this.#registry,
      handlers,
      validators: new Validators(),
      views: new Views(
        this.#registry,
        rules,
        (actor, tool) => sees(context, actor, tool),
        (actor) => spill.offers(actor),
      ),
      spill,
      rules,
      active: () => this.snapshot,
      recording: () => this.#records,
      tracing: () => this.#tracing,
      brakes: () => this.#brakes,
      trouble,
    }
    this.#context = context
    this.surfaces = new Surfaces(context, this.places, this.#emit)
    for (const tool of ownTools(context, this)) this.#registry.register(tool)
    const { models, hooks } = options
    this.conversations = new HubConversations({
      context,
      models,
      hooks,
      ledger: () => this.#openLedger(),
      door: (agent) => this.door(agent, 'agent'),
      actor: (agent) => this.actor(agent),
      register: (tool) => this.tools.register(tool),
      on: (listener) => this.on(listener),
      emit: this.#emit,
    })
  }

  /** An agent's view, `agent/worker` for a worker's; without a name the owner's, who may use everything. */
  as(agent?: string, /** @internal Of a client. */ session?: string): AgentHandle {
    return this.door(agent, this.#options.surface ?? 'library', session)
  }

  /** @internal The same by another door. */
  door(agent: string | undefined, surface: Surface, session?: string): AgentHandle {
    return new AgentHandle(this.#context, { actor: this.actor(agent), surface, session })
  }

  /** Tools that run in this process, offered next to those of servers. */
  readonly tools = {
    /** Adds one; the returned function takes it away. */
    register: (tool: NativeTool): (() => void) => {
      const off = this.#registry.register(tool)
      this.#emit({ type: 'tools-change', server: '' })
      return () => {
        off()
        this.#emit({ type: 'tools-change', server: '' })
      }
    },
    unregister: (name: string): boolean => {
      const was = this.#registry.unregister(name)
      if (was) this.#emit({ type: 'tools-change', server: '' })
      return was
    },
  }

  /** Lets a program answer in the name of a person; the returned function ends that. Undefined leaves it to others. */
  onApproval(approver: Approver): () => void {
    return this.approvals.addApprover(approver)
  }

  /** Questions to a person: list, get, answer. Agents have no way to this. */
  get approvals(): ApprovalDesk {
    return this.brakes.desk
  }

  /** @internal */
  get brakes(): Brakes {
    if (this.#brakes === undefined) throw new Error('the hub has not started')
    return this.#brakes
  }

  /** What was recorded: every call with its outcome. */
  get calls(): Invocations {
    return this.store.invocations
  }

  /** @internal The same, where there is one. */
  get record(): Invocations | undefined {
    return this.#records?.store.invocations
  }

  /** @internal */
  get store(): Store {
    return present(this.#records).store
  }

  /** @internal Which definitions of tools were accepted. */
  get pins(): PinBoard {
    return this.#pins.board
  }

  /** @internal What agents may spend. Undefined where nothing is recorded: there every agent is unlimited. */
  get energy(): Regulator | undefined {
    return this.#records?.energy
  }

  /** Counts the calls in a message that another engine streams (`mcp__server__tool` blocks); says how many began. */
  observe(message: unknown, by?: ObservedBy): number {
    return this.#records?.observer.observe(message, by) ?? 0
  }

  /** Waits until everything that was recorded so far is in the store. */
  async flush(): Promise<void> {
    await this.#records?.recorder.flush()
  }

  /** @internal */
  actor(agent?: string): Actor {
    return agent === undefined ? OWNER : actorOf(agent, this.snapshot)
  }

  /** @internal */
  get context(): CallContext {
    return this.#context
  }

  /** @internal The configuration that is acted on. */
  get snapshot(): Snapshot {
    if (this.#active === undefined) throw new Error('the hub has not started')
    return this.#active
  }

  /** Tells what happens, until the returned function is called. A listener that throws harms nobody else. */
  on(listener: (event: HubEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Tells of every call that is recorded, when it has ended, until the returned function is called. */
  onCall(listener: (call: EndedCall) => void): () => void {
    return present(this.#records).recorder.ended.add(listener)
  }

  /** What happens from now on, as a stream; ends with the hub, or when the signal fires. */
  events(signal?: AbortSignal): AsyncGenerator<HubEvent, void, undefined> {
    return eventStream(
      (listener) => this.on(listener),
      () => this.#ended,
      signal,
    )
  }

  /** @internal */
  async start(): Promise<void> {
    await this.startWith((await this.#load(this.#config, 'createHub')).active)
  }

  /** @internal */
  async startWith(active: Snapshot): Promise<void> {
    this.#adopt(active)
    // Before anything is started: what a killed run left may hold a file or a port that a server needs.
    const processes = await reapDeadOwners(this.places)
    if (processes.length > 0) this.#emit({ type: 'reaped', processes })
    this.#context.spill.sweep()
    const { start = true } = this.#options
    this.#manager.apply(active, { start: start === true })
    this.#tracing = await loadTracing()
    const { trouble } = this.#context
    try {
      const onEnergy = (change: EnergyChange) => this.#emit({ type: 'energy', ...change })
      if (this.#options.store !== 'none') this.#records = await Records.open(active, trouble, onEnergy)
      await this.#pins.open(this.#records?.store.pins, {
        onChange: (change) => this.#emit({ type: 'pin-change', ...change }),
        onTrouble: trouble,
      })
      this.#brakes = await Brakes.open({
        store: this.#records?.store,
        pins: this.#pins.board,
        expiry: () => this.snapshot.config.approvals.expire,
        onApproval: (approval) => this.#emit({ type: 'approval', approval }),
        onTrouble: trouble,
      })
      changed()
    } catch (error) {
      // Nothing was called yet, and nothing may be left running.
      await this.#manager.close()
      await this.#records?.close()
      throw error
    }
    await this.conversations.adopt(active)
    if (start !== false) void this.conversations.start()
  }

  /** @internal Follows a configuration that was read elsewhere. */
  follow(active: Snapshot): Change {
    this.#adopt(active)
    return this.#manager.apply(active, { start: this.#options.start !== false })
  }

  /** Ends every server; nothing of them is alive afterwards. */
  close(options: { readonly drain?: number } = {}): Promise<void> {
    this.#closing.abort(new Fault('CALL_CANCELLED', 'signing in was given up'))
    this.conversations.windDown()
    this.#closed ??= this.#manager.close(options).finally(async () => {
      await Promise.race([Promise.allSettled(this.#renewals), rest(RENEWAL_PATIENCE)])
      this.#brakes?.close()
      await this.conversations.close()
      this.#context.spill.close()
      await this.#pins.close()
      await this.#records?.close()
      this.#ended = true
      this.#emit({ type: 'closed' })
      this.#listeners.clear()
    })
    return this.#closed
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  // --- internal ---

  /** Read one after the other, so that what was asked for last is what stays; waited for side by side. */
  async #apply(next: Next, by: Program): Promise<Applied> {
    const work = this.#work.then(() => this.#applyNow(next, by))
    this.#work = work.catch(() => undefined)
    const { settled, broken } = await work
    const applied = await settled()
    return { ...applied, errors: { ...applied.errors, ...broken } }
  }

  async #applyNow(next: Next, by: Program): Promise<Change & Pick<Loaded, 'broken'>> {
    const given = next === undefined ? this.#config : next
    const config = typeof given === 'function' ? given(this.#config) : given
    const { active, broken } = await this.#load(config, by)
    const change = this.#manager.apply(active, { start: true })
    // Servers that were set by hand do not make anybody forget which files there are.
    if (typeof next !== 'function' || typeof this.#config === 'object') this.#config = config
    this.#adopt(active)
    return { ...change, broken }
  }

  /** What is decided by changes in one step. */
  #adopt(active: Snapshot): void {
    this.#active = active
    this.#rules = new Rulebook(active)
    changed()
    void this.#records?.adopt(active)
    if (this.#brakes) void this.conversations.adopt(active)
  }

  #openLedger(): Ledger {
    this.#ledger ??= openLedger(this.places)
    return this.#ledger
  }

  async #load(config: HubOptions['config'], by: Program): Promise<Loaded> {
    const loaded = await loadActive(config, this.#options, this.places, by)
    this.#instances = loaded.instances
    for (const message of loaded.told) this.#emit({ type: 'trouble', message })
    return loaded
  }
}
