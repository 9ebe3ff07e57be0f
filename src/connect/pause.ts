// Waiting that can be cut short.

import { Fault } from '../base/fault.ts'
import { type Stop, Stopper } from '../base/stop.ts'

/** Resolves after a time, or at once when the signal fires. Never rejects. */
export function pause(milliseconds: number, signal?: Stop): Promise<void> {
  return wait(milliseconds, signal, true)
}

/** The same for what goes on in the background: it does not keep the process alive. */
export function rest(milliseconds: number, signal?: Stop): Promise<void> {
  return wait(milliseconds, signal, false)
}

/** The same promise for somebody who may stop waiting; what it is about goes on. */
export function abortable<T>(promise: Promise<T>, signal: Stop, server: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(new Fault('CALL_CANCELLED', `waiting for ${server} was cancelled`, { server }))
    if (signal.aborted) {
      // Nobody is there any more to be told.
      promise.catch(() => undefined)
      return stop()
    }
    signal.addEventListener('abort', stop, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}

/** Does something that is told to stop when the time is over, or when the signal fires; `late` says why it was in vain. */
export async function inTime<T>(
  milliseconds: number,
  signal: Stop | undefined,
  work: (stop: Stop) => Promise<T>,
  late: () => Fault,
): Promise<T> {
  const stop = new Stopper()
  let isLate = false
  const timer = setTimeout(
    () => {
      isLate = true
      stop.abort()
    },
    Math.min(milliseconds, LONGEST),
  )
  const onAbort = () => stop.abort()
  if (signal?.aborted) stop.abort()
  signal?.addEventListener('abort', onAbort, { once: true })
  try {
    return await work(stop)
  } catch (error) {
    throw isLate ? late() : error
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
  }
}

// --- internal ---

/** More than a timer can wait. */
const LONGEST = 2 ** 31 - 1

function wait(milliseconds: number, signal: Stop | undefined, hold: boolean): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const done = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, milliseconds)
    if (!hold) timer.unref()
    signal?.addEventListener('abort', done, { once: true })
  })
}
