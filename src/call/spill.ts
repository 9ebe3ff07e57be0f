// What becomes of a result that is too large for a model: it gets the beginning, the size, and how to read on.

import { join } from 'node:path'
import { Fault } from '../base/fault.ts'
import type { Places } from '../base/places.ts'
import { scrubber } from '../base/redact.ts'
import type { Snapshot } from '../config/snapshot.ts'
import { allSecrets } from '../connect/secrets.ts'
import { type Actor, agentOf } from '../policy/access.ts'
import type { Rulebook } from '../policy/facts.ts'
import type { NativeTool } from '../registry/native.ts'
import { boundaryBefore, SpillFiles } from './spill-files.ts'
import { READ_RESULT } from './view.ts'

/** Bytes of text that a model is given at once, where its agent's entry says nothing. */
const USUAL = 100 * 1024
/** Bytes of a page where none are asked for. */
const PAGE = 20_000
/** Bytes by which the words around a page stay below the limit. */
const WORDS = 256

export class Spill {
  readonly #files: SpillFiles
  readonly #rules: () => Rulebook
  readonly #active: () => Snapshot
  readonly #trouble: (message: string) => void
  /** A configuration's secrets are looked up once. */
  readonly #scrubs = new WeakMap<Snapshot, (text: string) => string>()

  /** `trouble` tells a person what stops no call. */
  constructor(
    places: Pick<Places, 'state'>,
    rules: () => Rulebook,
    active: () => Snapshot,
    trouble: (message: string) => void,
  ) {
    this.#files = new SpillFiles(join(places.state, 'results'))
    this.#rules = rules
    this.#active = active
    this.#trouble = trouble
  }

  /** Takes away what is too old. Never throws. */
  sweep(): void {
    try {
      this.#files.sweep()
    } catch (error) {
      this.#tell('old results could not be taken away', error)
    }
  }

  close(): void {
    this.#files.close()
  }

  /** Bytes of text a client of the gateway gets at once; undefined: all of it. */
  limitForClients(actor: Actor): number | undefined {
    const spill = this.#said(actor)
    return typeof spill === 'number' ? spill : undefined
  }

  /** Whether an agent may have something to read on. */
  offers(actor: Actor): boolean {
    return this.limitForClients(actor) !== undefined || this.#files.has(agentOf(actor))
  }

  /** A text for a model: whole, or its beginning and how to go on. Never throws. */
  fit(actor: Actor, text: string, wanted?: number): string {
    const said = this.#said(actor)
    const limit = wanted ?? (typeof said === 'number' ? said : USUAL)
    if (text.length * 3 <= limit || Buffer.byteLength(text) <= limit) return text
    if (said === 'off') return withoutRest(text, limit)
    try {
      return this.#kept(actor, text, limit)
    } catch (error) {
      this.#tell('a large result could not be kept', error)
      return withoutRest(text, limit)
    }
  }

  /** `read_result`, for whoever was given the beginning of something. */
  tool(actorOf: (agent: string | undefined) => Actor): NativeTool {
    return {
      name: READ_RESULT,
      description:
        'Reads on in a result that was too large to be shown whole. Give the id that stood at its cut, and the offset.',
      inputSchema: {
        type: 'object',
        properties: {
          id: { type: 'string', description: 'the id that was given with the beginning' },
          offset: { type: 'integer', minimum: 0, description: 'byte to begin at; default 0' },
          limit: { type: 'integer', minimum: 1, description: `bytes to read; default ${PAGE}` },
        },
        required: ['id'],
        additionalProperties: false,
      },
      annotations: { readOnlyHint: true, openWorldHint: false },
      reads: true,
      service: true,
      run: ({ id, offset = 0, limit = PAGE }, { agent }) =>
        this.#page(actorOf(agent), String(id), Number(offset), Number(limit)),
    }
  }

  // --- internal ---

  #tell(what: string, error: unknown): void {
    this.#trouble(`${what}: ${error instanceof Error ? error.message : error}`)
  }

  #said(actor: Actor) {
    return this.#rules().grants(actor)?.spill
  }

  #kept(actor: Actor, text: string, limit: number): string {
    // What is shown is cut from what is kept, so that reading on begins where it ends.
    const scrubbed = this.#scrub(text)
    const { id, size } = this.#files.keep(agentOf(actor), scrubbed)
    const bytes = Buffer.from(scrubbed)
    const end = boundaryBefore(bytes, Math.min(limit, bytes.length))
    const rest = bytes.length > size ? ` (of ${bytes.length}; what is beyond that is not kept)` : ''
    const next = JSON.stringify({ id, offset: end })
    return (
      `${bytes.toString('utf8', 0, end)}\n\n` +
      `[Cut here: bytes 0–${end} of ${size}${rest}. The rest is kept for a day: call ${READ_RESULT} ${next}]`
    )
  }

  #scrub(text: string): string {
    const active = this.#active()
    const scrub = this.#scrubs.get(active) ?? scrubber(allSecrets(active))
    this.#scrubs.set(active, scrub)
    return scrub(text)
  }

  #page(actor: Actor, id: string, offset: number, limit: number): string {
    const said = this.#said(actor)
    const most = Math.max(PAGE_LEAST, (typeof said === 'number' ? said : USUAL) - WORDS)
    const page = this.#files.read(agentOf(actor), id, offset, Math.min(limit, most))
    if (page === undefined)
      throw new Fault(
        'USAGE',
        `no result has the id ${JSON.stringify(id.slice(0, 64))}, or it is no longer kept`,
        {
          hint: 'results are kept for a day and within bounds; make the call again',
        },
      )
    const { text, start, end, size } = page
    if (start >= size) return `[The end: the result has ${size} bytes.]`
    const next = end < size ? `go on with ${JSON.stringify({ id, offset: end })}` : 'this is its end'
    return `${text}\n\n[Bytes ${start}–${end} of ${size}; ${next}]`
  }
}

// --- internal ---

const PAGE_LEAST = 64

function withoutRest(text: string, limit: number): string {
  const bytes = Buffer.from(text)
  const end = boundaryBefore(bytes, Math.min(limit, bytes.length))
  return `${bytes.toString('utf8', 0, end)}\n[${bytes.length - end} more bytes were left out]`
}
