// A file that only this process writes, line by line, so that the next one can tell what this one was doing when it was
// killed. Nothing is synced: what the kernel has taken survives the process, and a power cut is not what this is for.

import {
  closeSync,
  constants,
  ftruncateSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { ownerOf } from '../connect/process/marker.ts'
import { findProcess } from '../connect/process/table.ts'
import { type Line, parseLine } from './line.ts'

/** Writes text to an open file and tells how many bytes were taken. */
export type Write = (file: number, text: string) => number

export class Journal {
  readonly path: string
  readonly #file: number
  readonly #write: Write
  #size = 0
  #torn = false

  /** The name tells whose it is: an owner's first journal, or a later one of the same. */
  constructor(folder: string, owner: string, part: number, write: Write = writeSync) {
    this.path = join(folder, `${owner}${part === 0 ? '' : `-${part}`}${SUFFIX}`)
    const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_EXCL
    this.#file = openSync(this.path, flags, 0o600)
    this.#write = write
  }

  get size(): number {
    return this.#size
  }

  /** Throws when not all of it could be written. Then it counts as not written, and is not read later. */
  append(lines: string): void {
    const text = this.#torn ? `\n${lines}` : lines
    const before = this.#size
    // Until it is known to be whole. A line break then ends what may be half a line.
    this.#torn = true
    const written = this.#write(this.#file, text)
    this.#size = before + written
    if (written < Buffer.byteLength(text)) throw new Error('the disk took only a part of a line')
    this.#torn = false
  }

  truncate(): void {
    ftruncateSync(this.#file, 0)
    this.#size = 0
    this.#torn = false
  }

  close(): void {
    closeSync(this.#file)
  }

  remove(): void {
    closeSync(this.#file)
    rmSync(this.path, { force: true })
  }
}

/** The journals of processes that are dead for certain. */
export function orphans(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(SUFFIX) && isDead(journalOwner(name)))
    .map((name) => join(folder, name))
}

/** Whose a journal is: a mark, which also stands for its process wherever that has taken something. */
export function journalOwner(path: string): string {
  return basename(path).replace(/(?:-\d+)?\.journal$/, '')
}

/** Whether the process behind a mark is dead for certain; what is no mark is not. */
export function isDead(mark: string): boolean {
  const owner = ownerOf(mark)
  return owner !== undefined && findProcess(owner.pid)?.started !== owner.started
}

/** The whole lines of a journal, which may be longer than memory: it grew while the store could not be written. */
export function* readJournal(path: string): Generator<Line> {
  const file = openSync(path, 'r')
  try {
    let rest: Buffer<ArrayBufferLike> = Buffer.alloc(0)
    const chunk = Buffer.alloc(CHUNK_BYTES)
    for (;;) {
      const read = readSync(file, chunk)
      if (read === 0) return
      const data = Buffer.concat([rest, chunk.subarray(0, read)])
      // JSON never holds a bare line break, and its byte is no part of any other character.
      const end = data.lastIndexOf(NEWLINE) + 1
      for (const text of data.toString('utf8', 0, end).split('\n')) {
        const line = text === '' ? undefined : parseLine(text)
        if (line !== undefined) yield line
      }
      rest = data.subarray(end)
    }
  } finally {
    closeSync(file)
  }
}

// --- internal ---

const SUFFIX = '.journal'
const CHUNK_BYTES = 1024 * 1024
const NEWLINE = 0x0a
