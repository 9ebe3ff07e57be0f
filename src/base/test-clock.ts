// A clock for tests, moved by hand.

import type { Clock } from './clock.ts'

export class TestClock implements Clock {
  boot = 'first'
  #wall = 1_790_000_000_000
  #monotonic = 5e9

  wall(): number {
    return this.#wall
  }

  monotonic(): number {
    return this.#monotonic
  }

  /** Time passes. */
  pass(milliseconds: number): void {
    this.#wall += milliseconds
    this.#monotonic += milliseconds * 1000
  }

  /** Somebody sets the wall clock. */
  jump(milliseconds: number): void {
    this.#wall += milliseconds
  }

  /** The machine is started again; so long it was off. */
  reboot(milliseconds: number): void {
    this.boot += '+'
    this.#wall += milliseconds
    this.#monotonic = 1e6
  }
}
