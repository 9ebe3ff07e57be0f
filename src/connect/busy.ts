// A server that says it is busy says when to come back. What only reads may do so.

import { Fault } from '../base/fault.ts'
import type { Stop } from '../base/stop.ts'
import { offTheClock, type Stopwatch } from '../base/stopwatch.ts'
import { pause } from './pause.ts'

const MAX_RETRIES = 2

/** Asks again, a few times, when the server wants that. Until then it does not work for us, as `clock` shows. */
export async function patiently<T>(
  ask: () => Promise<T>,
  signal: Stop | undefined,
  clock?: Stopwatch,
): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await ask()
    } catch (error) {
      const wait = retryAfter(error)
      if (wait === undefined || attempt === MAX_RETRIES) throw error
      await offTheClock(clock, pause(wait, signal))
    }
  }
}

/** The milliseconds a fault asks for, if it does. */
export function retryAfter(error: unknown): number | undefined {
  const wait =
    error instanceof Fault && error.code === 'SERVER_BUSY' ? error.details?.['retryAfter'] : undefined
  return typeof wait === 'number' ? wait : undefined
}
