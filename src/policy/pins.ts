// Accepted definitions of tools. What a server offers under a known name with another definition is quarantined until a
// person accepts it; judged in memory at once, with the store behind.

import { changed } from '../base/changes.ts'
import { Fault } from '../base/fault.ts'
import { nearest } from '../base/suggest.ts'
import type { Tool } from '../connect/definitions.ts'
import type { Pin, Pins } from '../store/policy.ts'
import { firstPin, INSTRUCTIONS, instructionsTool, judged, type Mask, Offer, offersOf } from './pin.ts'
import { addressOf, changesOf, type PinDiff, type ShownPin, shown } from './pin-shown.ts'
import { PinWriter } from './pin-writer.ts'
import { ToolNames } from './suspicion.ts'

export type PinVerdict = 'new' | 'accepted' | 'changed'

export interface PinChange {
  readonly server: string
  /** `#instructions` for the server's own. */
  readonly tool: string
  readonly kind: 'changed' | 'accepted' | 'restored'
  /** Who accepted it. */
  readonly by?: string | undefined
}

export interface PinBoardOptions {
  /** Must not throw. */
  onChange?(change: PinChange): void
  /** Told what a person should know and that stops nothing. Must not throw. */
  onTrouble(message: string): void
  /** How a server's definitions are kept and shown; as they are without it. */
  mask?(server: string): Mask
}

export class PinBoard {
  readonly #store: Pins | undefined
  readonly #options: PinBoardOptions
  readonly #writer: PinWriter
  readonly #pins = new Map<string, Map<string, Pin>>()
  /** What servers offer in this process, by server. */
  readonly #live = new Map<string, Live>()
  #version = 0
  #turn: Promise<unknown> = Promise.resolve()

  /** Reads every pin. Rejects when they cannot be read: without them a changed tool would count as new. */
  static async open(store: Pins | undefined, options: PinBoardOptions): Promise<PinBoard> {
    const board = new PinBoard(store, options)
    for (const pin of (await store?.list()) ?? []) board.#put(pin)
    return board
  }

  /** Use `PinBoard.open`. */
  private constructor(store: Pins | undefined, options: PinBoardOptions) {
    this.#store = store
    this.#options = options
    this.#writer = new PinWriter(store, {
      onOther: (pins) => {
        for (const pin of pins) this.#adopt(pin)
      },
      onTrouble: (message) => options.onTrouble(message),
    })
  }

  /** Another number whenever a verdict may have changed. */
  get version(): number {
    return this.#version
  }

  /** Whether a definition that is about to be listed or called is the accepted one. Depends on no earlier `see`. */
  verdict(server: string, tool: string, fingerprint: string): PinVerdict {
    const pin = this.#find(server, tool)
    if (pin === undefined) return 'new'
    return pin.fingerprint === fingerprint ? 'accepted' : 'changed'
  }

  /** The same for what a server says of itself. */
  instructionsVerdict(server: string, instructions: string): PinVerdict {
    return this.verdict(server, INSTRUCTIONS, new Offer(instructionsTool(instructions), AS_IT_IS).fingerprint)
  }

  /** To be called with all that a server lists, whenever it was asked; never with what an earlier run remembers. */
  see(server: string, tools: readonly Tool[], instructions?: string): void {
    const before = this.#live.get(server)
    if (before?.tools === tools && before.instructions === instructions) return
    const offers = offersOf(tools, instructions, this.#mask(server))
    this.#live.set(server, { tools, instructions, offers })
    for (const [tool, offer] of offers) this.#judge(server, tool, offer)
    for (const tool of this.#pins.get(server)?.keys() ?? [])
      if (!offers.has(tool)) this.#judge(server, tool, undefined)
  }

  /** Notes the first sight of one tool; one that is known stays as it is. */
  first(server: string, tool: Tool): void {
    if (this.#find(server, tool.name) === undefined)
      this.#judge(server, tool.name, new Offer(tool, this.#mask(server)))
  }

  /** By server and tool. */
  list(filter: { readonly server?: string | undefined } = {}): ShownPin[] {
    const names = this.#names()
    const servers = filter.server === undefined ? [...this.#pins.keys()].sort() : [filter.server]
    return servers.flatMap((server) =>
      [...(this.#pins.get(server)?.values() ?? [])]
        .sort((one, other) => (one.tool < other.tool ? -1 : 1))
        .map((pin) => shown(pin, names)),
    )
  }

  /** What the definition that waits changes; throws when no such tool was ever seen. */
  diff(server: string, tool: string): PinDiff {
    const pin = this.#known(server, tool)
    return { ...shown(pin, this.#names()), changes: changesOf(pin) }
  }

  /** Makes the definition of that fingerprint, which a person was shown, the accepted one. */
  accept(server: string, tool: string, fingerprint: string, by: string): Promise<ShownPin> {
    return this.#inTurn(() => this.#accept(server, tool, fingerprint, by))
  }

  /** Reads the store again: another process may have accepted something. */
  refresh(): Promise<void> {
    return this.#inTurn(() => this.#read())
  }

  /** Resolves when everything is written, or could not be. */
  async close(): Promise<void> {
    await this.#turn
    await this.#writer.flush()
  }

  // --- internal ---

  /** One after the other: what was read before something was accepted must not be taken over after it. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#turn.then(work)
    this.#turn = mine.catch(() => undefined)
    return mine
  }

  async #read(): Promise<void> {
    await this.#writer.flush()
    for (const pin of (await this.#store?.list()) ?? []) this.#adopt(pin)
  }

  async #accept(server: string, tool: string, fingerprint: string, by: string): Promise<ShownPin> {
    const { pending } = this.#known(server, tool)
    if (pending?.fingerprint !== fingerprint) return this.#settled(server, tool, fingerprint)
    const now = Date.now()
    // Another process may see another definition of it, and have written that.
    this.#writer.add(addressOf(server, tool), () => ({ ...this.#known(server, tool), pending }))
    await this.#writer.flush()
    const done = (await this.#store?.accept(server, tool, fingerprint, now)) ?? true
    if (!done) {
      await this.#read()
      return this.#settled(server, tool, fingerprint)
    }
    const { firstSeen, removedAt } = this.#known(server, tool)
    const { definition } = pending
    this.#adopt({ server, tool, fingerprint, definition, firstSeen, acceptedAt: now, removedAt }, by)
    return shown(this.#known(server, tool), this.#names())
  }

  #mask(server: string): Mask {
    return this.#options.mask?.(server) ?? AS_IT_IS
  }

  #find(server: string, tool: string): Pin | undefined {
    return this.#pins.get(server)?.get(tool)
  }

  #known(server: string, tool: string): Pin {
    const pin = this.#find(server, tool)
    if (pin) return pin
    const tools = this.#pins.get(server)
    const near = nearest(tool, tools?.keys() ?? [])
    throw new Fault('TOOL_UNKNOWN', `${addressOf(server, tool)} was never seen`, {
      hint: near
        ? `did you mean ${addressOf(server, near)}?`
        : tools
          ? `run: busbar pins list ${server}`
          : 'run: busbar pins list',
      server,
    })
  }

  #put(pin: Pin): void {
    const tools = this.#pins.get(pin.server)
    if (tools) tools.set(pin.tool, pin)
    else this.#pins.set(pin.server, new Map([[pin.tool, pin]]))
    this.#version += 1
    changed()
  }

  #judge(server: string, tool: string, offer: Offer | undefined): void {
    const before = this.#find(server, tool)
    if (before === undefined && offer === undefined) return
    const pin =
      before !== undefined
        ? judged(before, offer, Date.now())
        : offer && firstPin(server, tool, offer, Date.now())
    if (pin === undefined || pin === before) return
    this.#put(pin)
    this.#writer.add(addressOf(server, tool), () => this.#find(server, tool) ?? pin)
    if (pin.pending?.fingerprint === before?.pending?.fingerprint) return
    this.#tell({ server, tool, kind: pin.pending === undefined ? 'restored' : 'changed' })
  }

  /** Takes over what the store says; what a server offers in this very process counts for more than what others saw. */
  #adopt(pin: Pin, by?: string): void {
    const { server, tool } = pin
    const before = this.#find(server, tool)
    const live = this.#live.get(server)
    const { pending, removedAt } = live && before ? before : pin
    const waits = pending?.fingerprint === pin.fingerprint ? undefined : pending
    if (before === undefined || !isSame(before, { ...pin, pending: waits, removedAt }))
      this.#put({ ...pin, pending: waits, removedAt })
    // Else another process saw it first, as another, and nobody accepted anything.
    if (before?.pending?.fingerprint === pin.fingerprint && before.fingerprint !== pin.fingerprint)
      this.#tell({ server, tool, kind: 'accepted', by })
    if (live) this.#judge(server, tool, live.offers.get(tool))
  }

  #settled(server: string, tool: string, fingerprint: string): ShownPin {
    const pin = this.#known(server, tool)
    // Twice the same answer is one.
    if (pin.pending === undefined && pin.fingerprint === fingerprint) return shown(pin, this.#names())
    const address = addressOf(server, tool)
    throw new Fault('TOOL_CHANGED', `${address} is no longer what was shown`, {
      hint: `look again: busbar pins diff ${address}`,
      server,
    })
  }

  #names(): ToolNames {
    return new ToolNames([...this.#pins].map(([server, tools]) => [server, tools.keys()]))
  }

  #tell(change: PinChange): void {
    this.#options.onChange?.(change)
  }
}

// --- internal ---

const AS_IT_IS: Mask = (definition) => definition

interface Live {
  readonly tools: readonly Tool[]
  readonly instructions: string | undefined
  readonly offers: ReadonlyMap<string, Offer>
}

function isSame(one: Pin, other: Pin): boolean {
  return (
    one.fingerprint === other.fingerprint &&
    one.acceptedAt === other.acceptedAt &&
    one.removedAt === other.removedAt &&
    one.pending?.fingerprint === other.pending?.fingerprint
  )
}
