// A question on the terminal: everything that is needed to judge it, and nothing that could act on the terminal.

import { leftText } from '../base/time-text.ts'
import type { ApprovalView } from '../call/approval-view.ts'
import type { Comparison } from '../call/argument-changes.ts'
import { scanObject } from '../wire/scan.ts'
import { type Output, safe } from './output.ts'

/** Digits of an id that people type: its end, since ids of one minute begin alike. */
const ID_DIGITS = 8
/** Characters of one value; the whole is shown on request. */
const LONGEST_VALUE = 300

export function shortId(id: string): string {
  return id.slice(-ID_DIGITS)
}

/** A few lines; with `full` every character of the arguments. */
export function approvalLines(
  out: Output,
  approval: ApprovalView,
  { full = false, now = Date.now() } = {},
): string[] {
  const { id, agent, address, risk, reason, estimate, status, expiresAt, lastCall } = approval
  const left = status === 'pending' ? `${leftText(expiresAt - now)} left` : status
  const cost = estimate === undefined ? [] : [`about ${estimate} energy`]
  const head = [
    `${out.style('bold', shortId(id))}  ${oneLine(agent)} wants ${out.style('bold', oneLine(address))}`,
    ...cost,
    left,
  ]
  return [
    head.join('  ·  '),
    ...(risk === undefined ? [] : [`  may ${RISKS[risk] ?? oneLine(risk)}: ${oneLine(reason ?? '')}`]),
    ...argumentLines(approval, full),
    ...(lastCall === undefined ? [] : changeLines(lastCall)),
  ]
}

// --- internal ---

const RISKS: Readonly<Record<string, string>> = { read: 'read', write: 'write', destructive: 'destroy' }

function argumentLines({ arguments: text }: ApprovalView, full: boolean): string[] {
  const bytes = Buffer.from(text)
  const scan = scanObject(bytes)
  if (full || !scan.ok) return [`  ${valueText(text, full)}`]
  if (scan.members.length === 0) return ['  without arguments']
  // As they are written: every digit is what will be sent.
  return scan.members.map(
    ({ key, start, end }) => `  ${nameText(key)} = ${valueText(bytes.toString('utf8', start, end), full)}`,
  )
}

/** A name as it is; one that could be taken for more than a name is quoted, and cut like a value. */
function nameText(name: string): string {
  return /^[\w.$#-]{1,64}$/.test(name) ? name : valueText(JSON.stringify(name), false)
}

function changeLines({ changes, more, unseen }: Comparison): string[] {
  if (changes.length === 0)
    return [
      unseen === undefined
        ? '  the same as the last call of it that went well'
        : `  cannot be compared with the last call of it that went well: ${WHY_UNSEEN[unseen]}`,
    ]
  return [
    '  different from the last call of it that went well:',
    ...changes.map(
      ({ path, before, after, beforeText, afterText }) =>
        `    ${oneLine(path)}: ${sideText(before, beforeText)} → ${sideText(after, afterText)}`,
    ),
    ...(more === undefined ? [] : [`    … and ${more} more`]),
    ...(unseen === undefined ? [] : [`    there may be others: ${WHY_UNSEEN[unseen]}`]),
  ]
}

const WHY_UNSEEN = {
  masked: 'parts of one or the other are masked',
  unrecorded: 'its arguments were not recorded as they were sent',
} as const satisfies Record<NonNullable<Comparison['unseen']>, string>

function sideText(value: unknown, written: string | undefined): string {
  return value === undefined ? '(none)' : valueText(written ?? JSON.stringify(value), false)
}

/** Cut in the middle, so that nothing hides at the end. */
function valueText(text: string, full: boolean): string {
  const clean = oneLine(text)
  if (full || clean.length <= LONGEST_VALUE) return clean
  const half = LONGEST_VALUE / 2
  const left = clean.length - 2 * half
  return `${clean.slice(0, half)} … ${left} more characters … ${clean.slice(-half)}`
}

/** Text of agents and servers: nothing in it moves the cursor, and none of it makes a line of its own. */
export function oneLine(text: string): string {
  return safe(text).replaceAll('\n', '\\n')
}
