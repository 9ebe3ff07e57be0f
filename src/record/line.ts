// The lines of a journal: one when a call begins, one when it ends, each whole on its own.

import type { Invocation, Outcome } from '../store/invocation.ts'
import { errorPattern } from './pattern.ts'

export interface CallStart {
  readonly id: string
  readonly agent: string
  readonly server: string
  readonly tool: string
  readonly surface: string
  readonly conversation?: string | undefined
  readonly startedAt: number
  readonly requestBytes: number
  readonly arguments?: string | undefined
}

export interface CallEnd {
  readonly duration: number
  readonly outcome: Outcome
  readonly code?: string | undefined
  readonly error?: string | undefined
  readonly energy?: number | undefined
  readonly resultBytes: number
  /** What is kept of the result; made when the row is written, many at a time. It is not in the journal. */
  readonly result?: (() => string) | undefined
}

export type Line =
  | { readonly kind: 'begin'; readonly ticket: number; readonly start: CallStart }
  | { readonly kind: 'end'; readonly ticket: number; readonly end: CallEnd }

// Written by hand: stringifying a whole object would take as long as writing the line.

export function beginLine(ticket: number, start: CallStart): string {
  return (
    `["b",${ticket},${quote(start.id)},${quote(start.agent)},${quote(start.server)},${quote(start.tool)},` +
    `${quote(start.surface)},${optional(start.conversation)},${finite(start.startedAt)},` +
    `${finite(start.requestBytes)},${optional(start.arguments)}]\n`
  )
}

export function endLine(ticket: number, end: CallEnd): string {
  return (
    `["e",${ticket},${finite(end.duration)},"${end.outcome}",${optional(end.code)},${optional(end.error)},` +
    `${end.energy === undefined ? null : finite(end.energy)},${finite(end.resultBytes)}]\n`
  )
}

/** Undefined for what is no whole line: a process was killed, or the disk filled up, in the middle of it. */
export function parseLine(text: string): Line | undefined {
  let fields: unknown
  try {
    fields = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!Array.isArray(fields)) return undefined
  const [kind, ticket, ...rest] = fields as unknown[]
  if (typeof ticket !== 'number') return undefined
  if (kind === 'b') return { kind: 'begin', ticket, start: toStart(rest) }
  if (kind === 'e') return { kind: 'end', ticket, end: toEnd(rest) }
  return undefined
}

/** The row of a call that has ended. */
export function toInvocation(start: CallStart, end: CallEnd): Invocation {
  return {
    id: start.id,
    agent: start.agent,
    server: start.server,
    tool: start.tool,
    surface: start.surface,
    conversation: start.conversation,
    startedAt: start.startedAt,
    duration: end.duration,
    outcome: end.outcome,
    code: end.code,
    error: end.error,
    pattern: end.error === undefined ? undefined : errorPattern(end.error),
    energy: end.energy,
    requestBytes: start.requestBytes,
    resultBytes: end.resultBytes,
    arguments: start.arguments,
    result: end.result?.(),
  }
}

// --- internal ---

const quote: (text: string) => string = JSON.stringify

function optional(text: string | undefined): string {
  return text === undefined ? 'null' : quote(text)
}

function finite(value: number): number {
  return Number.isFinite(value) ? value : 0
}

function toStart(fields: readonly unknown[]): CallStart {
  const [id, agent, server, tool, surface, conversation, startedAt, requestBytes, args] = fields
  return {
    id: text(id) ?? '',
    agent: text(agent) ?? '',
    server: text(server) ?? '',
    tool: text(tool) ?? '',
    surface: text(surface) ?? '',
    conversation: text(conversation),
    startedAt: number(startedAt) ?? 0,
    requestBytes: number(requestBytes) ?? 0,
    arguments: text(args),
  }
}

function toEnd(fields: readonly unknown[]): CallEnd {
  const [duration, outcome, code, error, energy, resultBytes] = fields
  return {
    duration: number(duration) ?? 0,
    outcome: OUTCOMES.find((known) => known === outcome) ?? 'unknown',
    code: text(code),
    error: text(error),
    energy: number(energy),
    resultBytes: number(resultBytes) ?? 0,
  }
}

const OUTCOMES: readonly Outcome[] = ['ok', 'error', 'denied', 'timeout', 'cancelled', 'unknown']

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function number(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}
