// A call's row between its two forms: as callers see it, and as it is sealed and stored.

import type { ChainRow } from './chain.ts'
import type { Invocation, RecordedInvocation } from './invocation.ts'
import { withoutNul } from './sqlite-text.ts'

/** Every column, by the names of `ChainRow`; names is joined from the left because somebody may have emptied it. */
export const SELECT_ROWS =
  'SELECT i.seq, i.id, n.agent, n.server, n.tool, n.surface, i.conversation, i.started_at AS startedAt, ' +
  'i.duration, i.outcome, i.code, i.error, i.pattern, i.energy, i.request_bytes AS requestBytes, ' +
  'i.result_bytes AS resultBytes, i.arguments, i.result, i.hash ' +
  'FROM invocations i LEFT JOIN names n ON n.id = i.name'

export type StoredRow = ChainRow & { readonly hash: string }

/** What the columns can hold exactly, so that what is read back has the seal that was written. */
export function toRow(seq: number, invocation: Invocation): ChainRow {
  return {
    seq,
    id: withoutNul(invocation.id),
    agent: withoutNul(invocation.agent),
    server: withoutNul(invocation.server),
    tool: withoutNul(invocation.tool),
    surface: withoutNul(invocation.surface),
    conversation: optional(invocation.conversation),
    startedAt: whole(invocation.startedAt),
    duration: finite(invocation.duration),
    outcome: invocation.outcome,
    code: optional(invocation.code),
    error: optional(invocation.error),
    pattern: optional(invocation.pattern),
    energy: invocation.energy === undefined ? null : finite(invocation.energy),
    requestBytes: whole(invocation.requestBytes),
    resultBytes: whole(invocation.resultBytes),
    arguments: optional(invocation.arguments),
    result: optional(invocation.result),
  }
}

export function fromRow(row: StoredRow): RecordedInvocation {
  return {
    seq: row.seq,
    id: row.id,
    agent: row.agent ?? '',
    server: row.server ?? '',
    tool: row.tool ?? '',
    surface: row.surface ?? '',
    conversation: row.conversation ?? undefined,
    startedAt: row.startedAt,
    duration: row.duration,
    outcome: row.outcome,
    code: row.code ?? undefined,
    error: row.error ?? undefined,
    pattern: row.pattern ?? undefined,
    energy: row.energy ?? undefined,
    requestBytes: row.requestBytes,
    resultBytes: row.resultBytes,
    arguments: row.arguments ?? undefined,
    result: row.result ?? undefined,
  }
}

// --- internal ---

function optional(text: string | undefined): string | null {
  return text === undefined ? null : withoutNul(text)
}

/** The package's driver takes what is nearly zero for zero, which the seal would not. */
function finite(value: number): number {
  return Number.isFinite(value) && Math.abs(value) > 1e-12 ? value : 0
}

function whole(value: number): number {
  if (Number.isSafeInteger(value)) return value
  return Math.max(-Number.MAX_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, Math.trunc(finite(value))))
}
