// Texts that were too large to be shown, in files: for each agent a folder of its own, so that no id leads to another's.
// Bounded in number, bytes and age; the oldest go first.

import {
  closeSync,
  fstatSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { changed } from '../base/changes.ts'
import { randomHex, sha256 } from '../base/digest.ts'
import { prepareFolder } from '../base/places.ts'

export interface SpillBounds {
  /** Texts of one agent. */
  readonly files: number
  /** Bytes of them all. */
  readonly bytes: number
  /** Milliseconds for which one is kept. */
  readonly age: number
}

export const SPILL_BOUNDS: SpillBounds = { files: 256, bytes: 64 * 1024 * 1024, age: 24 * 3_600_000 }

export interface KeptText {
  readonly id: string
  /** Bytes that are kept. */
  readonly size: number
}

export interface Page {
  readonly text: string
  /** Where it begins and ends, in bytes. */
  readonly start: number
  readonly end: number
  readonly size: number
}

export class SpillFiles {
  readonly #folder: string
  readonly #bounds: SpillBounds
  readonly #now: () => number
  /** Agents of whom something is, or may still be, kept. */
  readonly #holders = new Map<string, boolean>()
  #timer: NodeJS.Timeout | undefined

  constructor(folder: string, bounds: SpillBounds = SPILL_BOUNDS, now: () => number = Date.now) {
    this.#folder = folder
    this.#bounds = bounds
    this.#now = now
  }

  /** Whether an agent (empty: the owner) has something to read. */
  has(agent: string): boolean {
    let held = this.#holders.get(agent)
    if (held === undefined) {
      held = this.#entries(folderName(agent)).length > 0
      this.#holders.set(agent, held)
    }
    return held
  }

  /** Keeps a text; of one beyond all bounds, its beginning. Throws what the file system says. */
  keep(agent: string, text: string): KeptText {
    const { bytes: most, files, age } = this.#bounds
    const all = Buffer.from(text)
    const bytes = all.subarray(0, boundaryBefore(all, Math.min(all.length, most)))
    this.sweep()
    const name = folderName(agent)
    prepareFolder(this.#folder)
    prepareFolder(join(this.#folder, name))
    this.#makeRoom(name, files - 1, most - bytes.length)
    const id = randomHex(6)
    try {
      writeFileSync(this.#file(name, id), bytes, { mode: 0o600, flag: 'wx' })
    } catch (error) {
      rmSync(this.#file(name, id), { force: true })
      throw error
    }
    const isFirst = !this.has(agent)
    this.#holders.set(agent, true)
    if (isFirst) changed()
    // What nobody asks for any more goes, too, however long this process lives.
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.sweep()
    }, age + 1_000).unref()
    return { id, size: bytes.length }
  }

  /** Some bytes of a text, cut between characters; undefined when it is unknown, expired or another agent's. */
  read(agent: string, id: string, offset: number, limit: number): Page | undefined {
    if (!ID.test(id)) return undefined
    const path = this.#file(folderName(agent), id)
    let file: number
    try {
      file = openSync(path, 'r')
    } catch (error) {
      if (isAbsent(error)) return undefined
      throw error
    }
    try {
      const { size, mtimeMs } = fstatSync(file)
      if (this.#isOver(mtimeMs)) return undefined
      const from = Math.min(offset, size)
      // A character has four bytes at most, so this holds at least one whole one.
      const bytes = Buffer.alloc(Math.min(limit + 2 * LONGEST, size - from))
      const length = readSync(file, bytes, 0, bytes.length, from)
      const read = bytes.subarray(0, length)
      const begin = boundaryAfter(read, 0)
      const wanted = begin + Math.max(limit, LONGEST)
      const end =
        from + length < size || wanted < length ? boundaryBefore(read, Math.min(wanted, length)) : length
      return { text: read.toString('utf8', begin, end), start: from + begin, end: from + end, size }
    } finally {
      closeSync(file)
    }
  }

  /** Takes away what is too old, of whomever. */
  sweep(): void {
    for (const name of entriesOf(this.#folder)) {
      const entries = this.#entries(name)
      for (const { id, at } of entries) if (this.#isOver(at)) rmSync(this.#file(name, id), { force: true })
    }
    for (const [agent, held] of this.#holders) {
      if (!held || this.#entries(folderName(agent)).length > 0) continue
      this.#holders.set(agent, false)
      changed()
    }
  }

  close(): void {
    clearTimeout(this.#timer)
  }

  // --- internal ---

  #makeRoom(name: string, files: number, bytes: number): void {
    const entries = this.#entries(name).sort((one, other) => one.at - other.at)
    let size = entries.reduce((sum, entry) => sum + entry.size, 0)
    let count = entries.length
    for (const entry of entries) {
      if (count <= files && size <= bytes) return
      rmSync(this.#file(name, entry.id), { force: true })
      count -= 1
      size -= entry.size
    }
  }

  #entries(name: string): { id: string; size: number; at: number }[] {
    return entriesOf(join(this.#folder, name)).flatMap((entry) => {
      const id = entry.replace(/\.txt$/, '')
      const stats = statSync(join(this.#folder, name, entry), { throwIfNoEntry: false })
      return ID.test(id) && stats ? [{ id, size: stats.size, at: stats.mtimeMs }] : []
    })
  }

  #isOver(at: number): boolean {
    return this.#now() - at > this.#bounds.age
  }

  #file(name: string, id: string): string {
    return join(this.#folder, name, `${id}.txt`)
  }
}

/** The last place at or before `at` where a character begins. */
export function boundaryBefore(bytes: Uint8Array, at: number): number {
  let end = at
  while (end > 0 && end < bytes.length && isInside(bytes[end])) end -= 1
  return end
}

// --- internal ---

const ID = /^[0-9a-f]{12}$/
/** Bytes of a character. */
const LONGEST = 4

function boundaryAfter(bytes: Uint8Array, at: number): number {
  let start = at
  while (start < bytes.length && isInside(bytes[start])) start += 1
  return start
}

function isInside(byte: number | undefined): boolean {
  return ((byte ?? 0) & 0xc0) === 0x80
}

/** Names of agents differ in case alone, or hold a slash; digests do not. */
function folderName(agent: string): string {
  return sha256(agent).slice(0, 24)
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (isAbsent(error)) return []
    throw error
  }
}

function isAbsent(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')
}
