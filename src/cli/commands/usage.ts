// `busbar usage`: what was called, by whom, and what came of it; and whether the record is as it was written.

import { Fault } from '../../base/fault.ts'
import type { ErrorPattern, UsageFilter, Verification } from '../../store/invocation.ts'
import type { ApprovalStatistics } from '../../store/policy.ts'
import { command } from '../command.ts'
import type { Output } from '../output.ts'
import { type Asked, recorded } from '../recorded.ts'
import { timeSpan } from '../time-span.ts'

export const spec = command({
  summary: 'what was called, and what came of it',
  options: {
    since: { value: 'time', about: 'only what was called in this time, such as 1h or 7d' },
    by: { value: 'what', about: 'agent, server (default) or tool' },
    errors: { about: 'errors instead, grouped by what they have in common' },
    calls: { about: 'single calls instead, newest first' },
    limit: { value: 'count', about: 'how many calls; default 20' },
    verify: { about: 'check that no row of the record was changed, taken out or put in' },
  },
  help: `
Exit 1 when --verify finds something.

Examples:
  busbar usage --by agent --since 1h
  busbar usage --errors
  busbar usage --calls --limit 5 --json
  busbar usage --verify`,
  run: async (session, _, options) => {
    const by = options.by ?? 'server'
    if (by !== 'agent' && by !== 'server' && by !== 'tool')
      throw new Fault('USAGE', `--by is "${by}"; expected agent, server or tool`)
    const since =
      options.since === undefined ? undefined : Date.now() - timeSpan('since', options.since, '30m, 1h or 7d')
    const limit = limitOf(options.limit)
    const { active } = await session.load({ warnings: false })
    await recorded(session, active, async (asked) => {
      if (options.verify) await showVerified(session.out, asked)
      else if (options.calls) await showCalls(session.out, asked, since, limit)
      else await showUsage(session.out, asked, { since, by, errors: options.errors === true })
    })
  },
})

// --- internal ---

/** How often a person was asked, what they said, and how long that took. */
function approvalText({ asked, allowed, denied, expired, pending, median }: ApprovalStatistics): string {
  const answered = allowed + denied
  const rate = answered === 0 ? '' : ` (${Math.round((100 * allowed) / answered)} % of the answers)`
  const time = median === undefined ? '' : `; half of them within ${Math.max(1, Math.round(median / 1000))} s`
  const often = asked === 1 ? 'once' : `${asked} times`
  return `A person was asked ${often}: ${allowed} allowed${rate}, ${denied} denied, ${expired} expired, ${pending} open${time}.`
}

function limitOf(text: string | undefined): number {
  const value = Number(text ?? 20)
  if (Number.isInteger(value) && value > 0 && value <= 1000) return value
  throw new Fault('USAGE', `--limit is "${text}"; expected a number from 1 to 1000`)
}

async function showVerified(out: Output, asked: Asked): Promise<void> {
  const result: Verification = await asked.verify()
  if (!result.ok) process.exitCode = 1
  out.answer(result, () =>
    result.ok
      ? `The record is whole: ${result.rows} calls, each as it was written.`
      : `The record was changed: ${result.problem} (row ${result.seq}, after ${result.rows} good ones).`,
  )
}

async function showUsage(
  out: Output,
  asked: Asked,
  { since, by, errors }: { since: number | undefined; by: UsageFilter['by']; errors: boolean },
): Promise<void> {
  const { rows, patterns, approvals } = await asked.usage({ since, by })
  if (errors) {
    out.answer({ patterns }, () => (patterns.length === 0 ? 'No errors.' : errorTable(out, patterns)))
    return
  }
  if (approvals.asked > 0) out.note(approvalText(approvals))
  out.answer({ rows, approvals }, () =>
    rows.length === 0
      ? `Nothing was called${since === undefined ? ' yet' : ' in that time'}.`
      : out.table(
          [by.toUpperCase(), 'CALLS', 'ERRORS', 'ENERGY', 'P50', 'P95', 'LAST USED'],
          rows.map((row) => [
            row.key === '' ? (by === 'agent' ? '(owner)' : '(native)') : row.key,
            String(row.calls),
            String(row.errors),
            row.energy.toFixed(1),
            milliseconds(row.p50),
            milliseconds(row.p95),
            moment(row.lastUsed),
          ]),
        ),
  )
}

function errorTable(out: Output, patterns: readonly ErrorPattern[]): string[] {
  return out.table(
    ['TOOL', 'COUNT', 'LAST SEEN', 'ERROR'],
    patterns.map(({ server, tool, count, lastSeen, pattern }) => [
      server === '' ? tool : `${server}/${tool}`,
      String(count),
      moment(lastSeen),
      pattern,
    ]),
  )
}

async function showCalls(out: Output, asked: Asked, since: number | undefined, limit: number): Promise<void> {
  const { calls } = await asked.calls({ since, limit })
  out.answer({ calls }, () =>
    calls.length === 0
      ? 'Nothing was called yet.'
      : out.table(
          ['WHEN', 'AGENT', 'CALL', 'OUTCOME', 'TIME', 'ERROR'],
          calls.map(({ startedAt, agent, server, tool, outcome, duration: took, error }) => [
            moment(startedAt),
            agent === '' ? '(owner)' : agent,
            server === '' ? tool : `${server}/${tool}`,
            outcome,
            milliseconds(took),
            error?.slice(0, 80) ?? '',
          ]),
        ),
  )
}

function milliseconds(value: number): string {
  return value < 10
    ? `${value.toFixed(1)} ms`
    : value < 10_000
      ? `${Math.round(value)} ms`
      : `${(value / 1000).toFixed(1)} s`
}

function moment(epoch: number): string {
  return new Date(epoch).toISOString().replace('T', ' ').slice(0, 19)
}
