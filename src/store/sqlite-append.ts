// Writes rows of calls: sealed one after the other, with the totals of their servers and what they cost, in one
// transaction.

import type { Clock } from '../base/clock.ts'
import { BROKEN, type Chain, type ChainRow } from './chain.ts'
import type { Invocation } from './invocation.ts'
import { charge } from './sqlite-charge.ts'
import type { Session } from './sqlite-connection.ts'
import type { SqlValue } from './sqlite-driver.ts'
import { readMark, writeMark } from './sqlite-marks.ts'
import { toRow } from './sqlite-row.ts'
import { addToTotals } from './sqlite-servers.ts'
import { withoutNul } from './sqlite-text.ts'

/** Numbers of names that are known to be in the file. */
export type NameCache = Map<string, number>

/** Who is charged for rows, and by which clock agents recover until then. */
export interface Charging {
  readonly owner: string | undefined
  readonly clock: Clock
}

export interface Appended {
  /** Names that this transaction looked up or added; good once it is committed. */
  readonly names: NameCache
  /** Whether the chain was whole; when not, the new rows begin behind a break that stays visible. */
  readonly intact: boolean
}

/** `rows` have ids that are not in the file; see `unknownOnly`. */
export function appendRows(
  session: Session,
  chain: Chain,
  known: NameCache,
  rows: readonly Invocation[],
  { owner, clock }: Charging,
): Appended {
  const head = readMark(session, chain, 'head')
  const newest = session.get<{ seq: number | null }>('SELECT MAX(seq) AS seq FROM invocations')?.seq ?? 0
  // A row behind the head is not ours. Ours go behind it, so that recording goes on and checking shows it.
  let seq = Math.max(head.seq, newest)
  let hash = head.intact ? head.hash : BROKEN
  const names: NameCache = new Map()
  const sealed: ChainRow[] = []
  let values: SqlValue[] = []
  let before: ChainRow | undefined
  let name = 0
  for (const invocation of rows) {
    seq += 1
    const row = toRow(seq, invocation)
    hash = chain.link(hash, row)
    sealed.push(row)
    // Calls of the same tool often come in a row.
    if (before === undefined || !isSameTool(before, row)) name = nameOf(session, known, names, row)
    before = row
    pushValues(values, row, name, hash)
    if (values.length === ROWS_AT_ONCE * COLUMNS.length) {
      session.run(INSERT_SEVERAL, ...values)
      values = []
    }
  }
  for (let at = 0; at < values.length; at += COLUMNS.length)
    session.run(INSERT_ONE, ...values.slice(at, at + COLUMNS.length))
  addToTotals(session, sealed)
  charge(session, sealed, owner, clock)
  writeMark(session, chain, 'head', { seq, count: head.count + rows.length, hash })
  return { names, intact: head.intact }
}

/** Those whose id is not in the file, each id once. */
export function unknownOnly(session: Session, rows: readonly Invocation[]): Invocation[] {
  const ids = new Set<string>()
  return rows.filter(({ id }) => {
    if (ids.has(id) || session.get('SELECT 1 FROM invocations WHERE id = ?', withoutNul(id)) !== undefined)
      return false
    ids.add(id)
    return true
  })
}

// --- internal ---

const COLUMNS = [
  'seq',
  'id',
  'name',
  'conversation',
  'started_at',
  'duration',
  'outcome',
  'code',
  'error',
  'pattern',
  'energy',
  'request_bytes',
  'result_bytes',
  'arguments',
  'result',
  'hash',
] as const

// Fewer crossings into the driver: sixteen rows at once took a fifth less time than one by one.
const ROWS_AT_ONCE = 16
const INSERT = `INSERT INTO invocations (${COLUMNS.join(', ')}) VALUES`
const PLACES = `(${COLUMNS.map(() => '?').join(', ')})`
const INSERT_ONE = `${INSERT} ${PLACES}`
const INSERT_SEVERAL = `${INSERT} ${Array(ROWS_AT_ONCE).fill(PLACES).join(', ')}`

/** In the order of COLUMNS. */
function pushValues(values: SqlValue[], row: ChainRow, name: number, hash: string): void {
  values.push(
    row.seq,
    row.id,
    name,
    row.conversation,
    row.startedAt,
    row.duration,
    row.outcome,
    row.code,
    row.error,
    row.pattern,
    row.energy,
    row.requestBytes,
    row.resultBytes,
    row.arguments,
    row.result,
    hash,
  )
}

function isSameTool(one: ChainRow, other: ChainRow): boolean {
  return (
    one.tool === other.tool &&
    one.server === other.server &&
    one.agent === other.agent &&
    one.surface === other.surface
  )
}

function nameOf(session: Session, known: NameCache, names: NameCache, row: ChainRow): number {
  const key = `${row.agent}\0${row.server}\0${row.tool}\0${row.surface}`
  const cached = known.get(key) ?? names.get(key)
  if (cached !== undefined) return cached
  const parts = [row.agent, row.server, row.tool, row.surface]
  session.run(
    'INSERT INTO names (agent, server, tool, surface) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
    ...parts,
  )
  const found = session.get<{ id: number }>(
    'SELECT id FROM names WHERE agent = ? AND server = ? AND tool = ? AND surface = ?',
    ...parts,
  )
  if (found === undefined) throw new Error('a name was not found right after it was added')
  names.set(key, found.id)
  return found.id
}
