// Takes old rows of calls away and seals where the record begins now.

import { setImmediate as breathe } from 'node:timers/promises'
import { Fault } from '../base/fault.ts'
import type { Chain } from './chain.ts'
import type { Connection, Session } from './sqlite-connection.ts'
import { readMark, writeMark } from './sqlite-marks.ts'

/** Removes a part at a time, each with its own checkpoint, so that other work goes on in between. */
export async function pruneRows(records: Connection, chain: Chain, before: number): Promise<number> {
  for (let total = 0; ; ) {
    const removed = await records.write((session) => prunePart(session, chain, before))
    total += removed
    if (removed < PART_ROWS) return total
    await breathe()
  }
}

// --- internal ---

const PART_ROWS = 5000

function prunePart(session: Session, chain: Chain, before: number): number {
  const checkpoint = readMark(session, chain, 'checkpoint')
  const oldest = session.get<{ seq: number | null }>('SELECT MIN(seq) AS seq FROM invocations')?.seq
  // A new checkpoint would make rows that somebody took away look pruned.
  if (!checkpoint.intact || (typeof oldest === 'number' && oldest !== checkpoint.seq + 1))
    throw new Fault(
      'STORE_DAMAGED',
      'the record of calls does not begin where it should, so nothing was pruned',
      {
        hint: 'find out who changed it, then move the store aside',
      },
    )
  // Only from the start up to the first row that stays: a gap in the chain cannot be told from a theft.
  const last = session.get<{ seq: number; hash: string }>(
    'SELECT seq, hash FROM invocations WHERE seq <= ? AND seq < ' +
      '(SELECT COALESCE(MIN(seq), 9e15) FROM invocations WHERE started_at >= ?) ORDER BY seq DESC LIMIT 1',
    checkpoint.seq + PART_ROWS,
    before,
  )
  if (last === undefined) return 0
  const removed = session.run('DELETE FROM invocations WHERE seq <= ?', last.seq)
  writeMark(session, chain, 'checkpoint', {
    seq: last.seq,
    count: checkpoint.count + removed,
    hash: last.hash,
  })
  return removed
}
