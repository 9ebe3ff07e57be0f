// Time that nobody can set: the machine's own count since it started, common to all its processes, beside the wall clock,
// which is believed only across a restart of the machine.

import { readFileSync } from 'node:fs'

export interface Clock {
  /** Epoch milliseconds. May jump, either way. */
  wall(): number
  /** Microseconds since some moment of this boot. Never goes back. */
  monotonic(): number
  /** Which boot `monotonic` counts from. */
  readonly boot: string
}

export function systemClock(): Clock {
  // Both read the same count; this one makes no large number to do so.
  const origin = Number(process.hrtime.bigint()) / 1000 - performance.now() * 1000
  return {
    wall: () => Date.now(),
    monotonic: () => origin + performance.now() * 1000,
    boot: bootId(),
  }
}

/** A moment by both clocks. */
export interface Moment {
  readonly wall: number
  readonly monotonic: number
  readonly boot: string
}

/** Microseconds from a moment until now; never below zero. */
export function elapsed(since: Moment, clock: Clock): number {
  const counted = clock.monotonic() - since.monotonic
  // Where boots have no name, one that began after `since` shows by a count that is lower.
  if (since.boot === clock.boot && counted >= 0) return counted
  return Math.max(0, (clock.wall() - since.wall) * 1000)
}

// --- internal ---

function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return 'unknown'
  }
}
