// Where the chain of calls begins and ends, as sealed in the file.

import { type Chain, GENESIS, type Mark } from './chain.ts'
import type { Session } from './sqlite-connection.ts'

/** `head`: the newest row; `checkpoint`: the newest of those that pruning removed. */
export type Part = 'head' | 'checkpoint'

export interface FoundMark extends Mark {
  /** Whether the seal is ours; when not, the numbers are somebody else's. */
  readonly intact: boolean
}

/** For a new file. It never happens again: a file without marks had them removed. */
export function beginChain(session: Session, chain: Chain): void {
  writeMark(session, chain, 'head', GENESIS)
  writeMark(session, chain, 'checkpoint', GENESIS)
}

export function readMark(session: Session, chain: Chain, part: Part): FoundMark {
  const row = session.get<Mark & { seal: string }>(
    'SELECT seq, count, hash, seal FROM chain WHERE part = ?',
    part,
  )
  if (row === undefined) return { ...GENESIS, intact: false }
  const { seq, count, hash, seal } = row
  return { seq, count, hash, intact: seal === chain.seal(part, row) }
}

export function writeMark(session: Session, chain: Chain, part: Part, mark: Mark): void {
  session.run(
    'INSERT INTO chain (part, seq, count, hash, seal) VALUES (?, ?, ?, ?, ?) ON CONFLICT (part) ' +
      'DO UPDATE SET seq = excluded.seq, count = excluded.count, hash = excluded.hash, seal = excluded.seal',
    part,
    mark.seq,
    mark.count,
    mark.hash,
    chain.seal(part, mark),
  )
}
