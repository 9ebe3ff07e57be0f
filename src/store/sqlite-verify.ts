// Reads the record of calls from its first row to its last and says where it is not as it was written.

import { setImmediate as breathe } from 'node:timers/promises'
import { BROKEN, type Chain } from './chain.ts'
import type { Verification } from './invocation.ts'
import type { Connection, Session } from './sqlite-connection.ts'
import { type FoundMark, readMark } from './sqlite-marks.ts'
import { SELECT_ROWS, type StoredRow } from './sqlite-row.ts'

/** Rows are read a page at a time, and other work goes on in between. */
export async function verifyChain(records: Connection, chain: Chain): Promise<Verification> {
  for (;;) {
    const ends = await records.read((session) => readEnds(session, chain))
    const found = await walk(records, chain, ends)
    if (found.ok) return found
    // Pruning in the meantime takes rows away from under the walk; then it begins again.
    const now = await records.read((session) => readMark(session, chain, 'checkpoint'))
    if (now.seq === ends.checkpoint.seq) return found
  }
}

// --- internal ---

const PAGE_ROWS = 500

interface Ends {
  readonly head: FoundMark
  readonly checkpoint: FoundMark
  /** The highest `seq` in the table, in the same instant. */
  readonly newest: number
  readonly oldest: number | undefined
}

function readEnds(session: Session, chain: Chain): Ends {
  const row = session.get<{ oldest: number | null; newest: number | null }>(
    'SELECT MIN(seq) AS oldest, MAX(seq) AS newest FROM invocations',
  )
  return {
    head: readMark(session, chain, 'head'),
    checkpoint: readMark(session, chain, 'checkpoint'),
    newest: row?.newest ?? 0,
    oldest: row?.oldest ?? undefined,
  }
}

async function walk(records: Connection, chain: Chain, ends: Ends): Promise<Verification> {
  const { head, checkpoint, newest, oldest } = ends
  let rows = 0
  const bad = (seq: number, problem: string): Verification => ({ ok: false, rows, seq, problem })
  if (!checkpoint.intact)
    return bad(checkpoint.seq, 'the checkpoint of pruning was changed, or the key is another')
  if (oldest !== undefined && oldest <= checkpoint.seq) return bad(oldest, `row ${oldest} was inserted`)
  let previous = checkpoint.hash
  let seq = checkpoint.seq
  while (seq < newest) {
    // One more than is judged, for telling a row that was put in from one that was changed.
    const page = await records.all<StoredRow>(
      `${SELECT_ROWS} WHERE i.seq > ? ORDER BY i.seq LIMIT ${PAGE_ROWS + 1}`,
      seq,
    )
    if (page.length === 0) break
    for (const [index, row] of page.slice(0, PAGE_ROWS).entries()) {
      if (head.intact && row.seq > head.seq) return bad(row.seq, `row ${row.seq} was inserted after the end`)
      if (row.seq > seq + 1) return bad(seq + 1, `row ${seq + 1} is missing`)
      if (row.hash !== chain.link(previous, row))
        return bad(row.seq, whatHappened(chain, previous, row, page[index + 1]))
      previous = row.hash
      seq = row.seq
      rows += 1
      if (seq === newest) break
    }
    await breathe()
  }
  return judgeEnd({ ends, rows, seq, previous, bad })
}

/** The row's seal does not fit: it was put in when the row behind it fits in its place. */
function whatHappened(chain: Chain, previous: string, row: StoredRow, next: StoredRow | undefined): string {
  const fits = (seq: number): boolean =>
    next !== undefined && next.hash === chain.link(previous, { ...next, seq })
  if (next !== undefined && (fits(next.seq) || fits(row.seq))) return `row ${row.seq} was inserted`
  if (row.hash === chain.link(BROKEN, row))
    return `row ${row.seq} was added when the head record had been changed`
  return `row ${row.seq} was changed`
}

function judgeEnd({
  ends: { head, checkpoint },
  rows,
  seq,
  previous,
  bad,
}: {
  readonly ends: Ends
  readonly rows: number
  readonly seq: number
  readonly previous: string
  readonly bad: (seq: number, problem: string) => Verification
}): Verification {
  if (!head.intact) return bad(seq, 'the head record was changed or removed, or the key is another')
  if (seq < head.seq) return bad(seq + 1, `the end is cut: row ${seq + 1} and what followed it are missing`)
  if (head.hash !== previous || head.count - checkpoint.count !== rows)
    return bad(seq, 'the head record does not fit the rows')
  return { ok: true, rows }
}
