// Why a request is not waited for any longer.

import { Fault } from '../base/fault.ts'
import type { Ask } from './pending.ts'

export function cancelled(server: string, what: string): Fault {
  return new Fault('CALL_CANCELLED', `${what} was cancelled`, { server })
}

/** `limit`: the one of its two that it has reached, in milliseconds. */
export function overdue(server: string, { method, idle, total }: Ask, limit: number): Fault {
  return new Fault('CALL_TIMEOUT', `${server} did not answer ${method} within ${seconds(limit)}`, {
    hint: `give it longer: timeouts.${limit === total && limit !== idle ? 'total' : 'call'} of ${server}`,
    server,
  })
}

/** A list that has not come to its end. What came of it is not used: nobody could tell it from the whole. */
export function unfinished(server: string, method: string, limit: number, pages: number): Fault {
  const what = pages === 0 ? 'answer' : 'come to the end of'
  const got = pages === 0 ? '' : ` (pages: ${pages})`
  return new Fault('CALL_TIMEOUT', `${server} did not ${what} ${method} within ${seconds(limit)}${got}`, {
    hint: `give it longer: timeouts.call of ${server}`,
    server,
  })
}

// --- internal ---

function seconds(milliseconds: number): string {
  return milliseconds < 1000 ? `${milliseconds} ms` : `${Math.round(milliseconds / 100) / 10} s`
}
