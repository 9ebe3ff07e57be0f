// A question on the terminal: everything that is needed to judge it, and nothing that could act on the terminal.

import type { ApprovalView, ArgumentChange } from '../call/approval-view.ts'
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
  const left = status === 'pending' ? `${timeLeft(expiresAt - now)} left` : status
  const cost = estimate === undefined ? [] : [`about ${estimate} energy`]
  const head = [
    `${out.style('bold', shortId(id))}  ${agent} wants ${out.style('bold', address)}`,
    ...cost,
    left,
  ]
  return [
    head.join('  ·  '),
    ...(risk === undefined ? [] : [`  may ${RISKS[risk] ?? risk}: ${reason ?? ''}`]),
    ...argumentLines(approval, full),
    ...(lastCall === undefined ? [] : changeLines(lastCall.changes)),
  ]
}

function timeLeft(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000))
  return seconds < 90 ? `${seconds} s` : `${Math.round(seconds / 60)} min`
}

// --- internal ---

const RISKS: Readonly<Record<string, string>> = { read: 'read', write: 'write', destructive: 'destroy' }

function argumentLines({ arguments: text }: ApprovalView, full: boolean): string[] {
  const members = membersOf(text)
  if (full || members === undefined) return [`  ${valueText(text, full)}`]
  if (members.length === 0) return ['  without arguments']
  return members.map(([key, value]) => `  ${key} = ${valueText(JSON.stringify(value), full)}`)
}

function changeLines(changes: readonly ArgumentChange[]): string[] {
  if (changes.length === 0) return ['  the same as the last call of it that went well']
  return [
    '  different from the last call of it that went well:',
    ...changes.map(({ path, before, after }) => `    ${path}: ${sideText(before)} → ${sideText(after)}`),
  ]
}

function sideText(value: unknown): string {
  return value === undefined ? '(none)' : valueText(JSON.stringify(value), false)
}

/** Cut in the middle, so that nothing hides at the end. */
function valueText(text: string, full: boolean): string {
  const clean = safe(text)
  if (full || clean.length <= LONGEST_VALUE) return clean
  const half = LONGEST_VALUE / 2
  const left = clean.length - 2 * half
  return `${clean.slice(0, half)} … ${left} more characters … ${clean.slice(-half)}`
}

function membersOf(text: string): [string, unknown][] | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? Object.entries(value) : undefined
  } catch {
    return undefined
  }
}
