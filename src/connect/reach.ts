// The way to a server until a request may be sent: started if need be, with a place at its gate, in its turn.

import { Fault } from '../base/fault.ts'
import { type Stop, Stopper } from '../base/stop.ts'
import type { Asker } from './asker.ts'
import type { Connection } from './connection.ts'
import type { Link } from './link.ts'
import { inTime } from './pause.ts'
import { RESTART } from './state.ts'
import type { Leave } from './turns.ts'

/** What is waited for, and for how long. */
export interface Waiting {
  readonly method: string
  readonly name?: string | undefined
  readonly signal?: Stop | undefined
  readonly timeout?: number | undefined
}

export interface InTurn {
  readonly link: Link
  /** How to say that it is over; undefined where nobody takes turns. */
  readonly leave: Leave | undefined
}

/**
 * The link to ask by, when it may be: a server on one shared stream may ask back about a request without anybody else being
 * taken for the one it means. What is resolved to is true at that very moment; while a turn was waited for, the link may have
 * gone, and its turns with it. `older`: the way for a client of the older era, where there is one.
 */
export function inTurn(
  connection: Connection,
  waiting: Waiting,
  asker: Asker | undefined,
  older?: (link: Link) => Promise<Link | undefined>,
): InTurn | Promise<InTurn> {
  const { live } = connection
  const isUsual = live !== undefined && (older === undefined || live.agreement.era === 'legacy')
  if (isUsual && !live.takesTurns(asker)) return { link: live, leave: undefined }
  return turnOf(connection, waiting, asker, older)
}

/** Waits until the server is up, as a call would, so that its tools are known. */
export async function awake(connection: Connection, waiting: Waiting): Promise<void> {
  if (connection.live) return
  await enter(connection, waiting)
  connection.gate.leave()
}

/** Starting and waiting for a turn are part of the call: they take no longer than it may without progress. */
export async function enter(connection: Connection, waiting: Waiting): Promise<void> {
  const entering = async (stop: Stop): Promise<void> => {
    if (!connection.live) await connection.ready(stop)
    const { stopping } = connection
    try {
      await connection.gate.enter(stop)
    } catch (error) {
      if (stopping.reason !== RESTART || stop.aborted) throw error
      await entering(stop)
    }
  }
  await inTimeOf(connection, waiting, entering)
}

// --- internal ---

/** More than a timer can wait. */
const LONGEST = 2 ** 31 - 1

async function turnOf(
  connection: Connection,
  waiting: Waiting,
  asker: Asker | undefined,
  older: ((link: Link) => Promise<Link | undefined>) | undefined,
): Promise<InTurn> {
  for (;;) {
    const usual = connection.live ?? (await up(connection, waiting))
    const link = (usual.agreement.era === 'modern' && (await older?.(usual))) || usual
    const leave = await takeTurn(connection, link, waiting, asker)
    if (connection.live === usual && (link === usual || !link.closed)) return { link, leave }
    leave?.('given up')
  }
}

function takeTurn(
  { plan }: Connection,
  link: Link,
  { method, name, signal, timeout = plan.timeouts.call }: Waiting,
  asker: Asker | undefined,
): Promise<Leave> | undefined {
  if (!link.takesTurns(asker)) return undefined
  const stop = new Stopper()
  const turn = link.turn({ method, name }, asker, timeout, stop)
  return turn && bounded(turn, stop, plan.name, signal, timeout)
}

/** Its link. For who has a place at its gate already: it was there a moment ago, and comes back. */
function up(connection: Connection, waiting: Waiting): Promise<Link> {
  return inTimeOf(connection, waiting, (stop) => connection.ready(stop))
}

function inTimeOf<T>(
  { plan }: Connection,
  { method, signal, timeout }: Waiting,
  work: (stop: Stop) => Promise<T>,
): Promise<T> {
  const limit = Math.min(timeout ?? Math.max(plan.timeouts.call, plan.firstDeadline), LONGEST)
  const late = () =>
    new Fault('CALL_TIMEOUT', `${plan.name} did not get to ${method} within ${limit} ms`, {
      hint: `give it longer, or see what keeps it: busbar list --check ${plan.name}`,
      server: plan.name,
    })
  return inTime(limit, signal, work, late)
}

async function bounded<T>(
  turn: Promise<T>,
  stop: Stopper,
  server: string,
  signal: Stop | undefined,
  limit: number,
): Promise<T> {
  const abort = () => stop.abort()
  const timer = setTimeout(abort, Math.min(limit, LONGEST))
  signal?.addEventListener('abort', abort, { once: true })
  if (signal?.aborted) abort()
  try {
    return await turn
  } catch (error) {
    if (signal?.aborted) throw error
    throw new Fault('CALL_TIMEOUT', `${server} is busy with a call of somebody else that may ask back`, {
      hint: `try again; or give each agent a process of its own: share: agent in the entry of ${server}`,
      server,
    })
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
  }
}
