// The mark in the environment of every process a server starts, and that those start in turn. A process can
// leave its group and its parent; the environment it was started with stays readable.

import { randomHex } from '../../base/digest.ts'
import { startOf } from './table.ts'

export const MARK = 'BUSBAR_MARK'

/** The process that started a server, and is the only one that may end it while it lives. */
export interface Owner {
  readonly pid: number
  readonly started: number
}

/** A mark for one server: `<owner pid>.<owner start>.<random>`. */
export function newMarker(): string {
  ownStart ??= startOf(process.pid) ?? 0
  return `${process.pid}.${ownStart}.${randomHex(8)}`
}

/** Whose server carries this mark; undefined when it is no mark. */
export function ownerOf(marker: string): Owner | undefined {
  const [, pid, started] = /^(\d+)\.(\d+)\.[0-9a-f]{16}$/.exec(marker) ?? []
  return pid === undefined ? undefined : { pid: Number(pid), started: Number(started) }
}

// --- internal ---

// Asked once: it does not change, and a machine that runs out of descriptors later would not answer.
let ownStart: number | undefined
