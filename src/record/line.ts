// The lines of a journal: one when a call begins, one when it ends, each whole on its own.

import type { Invocation, Outcome } from '../store/invocation.ts'
import { Names } from './names.ts'
import { errorPattern } from './pattern.ts'

export interface CallStart {
  readonly id: string
  readonly names: Names
  readonly conversation?: string | undefined
  readonly startedAt: number
  readonly requestBytes: number
  readonly arguments?: string | undefined
  /** Energy that was set aside for it: what it cost when nobody will ever know better. */
  readonly reserved?: number | undefined
}

export interface CallEnd {
  readonly duration: number
  readonly outcome: Outcome
  readonly code?: string | undefined
  readonly error?: string | undefined
  readonly energy?: number | undefined
  readonly resultBytes: number
  /** What is kept of the result. It is not in the journal. */
  readonly result?: string | undefined
  /** The same as it was said; what is kept of it is found out when the row is written, many at a time. */
  readonly said?: string | undefined
}

export type Line =
  | { readonly kind: 'begin'; readonly ticket: number; readonly start: CallStart }
  | { readonly kind: 'end'; readonly ticket: number; readonly end: CallEnd }

// Written by hand: stringifying a whole object would take as long as writing the line. In parts that are short, because each
// step of putting a long text together is an object of its own.

export function beginLine(ticket: number, start: CallStart): string {
  const { id, names, conversation, startedAt, requestBytes, arguments: said, reserved } = start
  const who = `["b",${ticket},"${id}",${names.text},`
  const where = conversation === undefined ? 'null' : quote(conversation)
  const what = said === undefined ? 'null' : quote(said)
  const tail = reserved === undefined ? ']\n' : `,${number(reserved)}]\n`
  return `${who}${where},${startedAt},${requestBytes},${what}${tail}`
}

export function endLine(ticket: number, end: CallEnd): string {
  const { duration, outcome, code, error, energy, resultBytes } = end
  const what = `["e",${ticket},${duration},"${outcome}"`
  const why =
    code === undefined && error === undefined ? ',null,null,' : `,${optional(code)},${optional(error)},`
  return `${what}${why}${number(energy)},${resultBytes}]\n`
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

/** A call that has begun, and how it ended. Its row is made of both when many are written. */
export class OpenCall {
  declare readonly ticket: number
  declare readonly start: CallStart
  declare end: CallEnd
  /** @internal Of `OpenCalls`. */
  declare isOpen: boolean
  /** @internal */
  declare before: OpenCall | undefined
  /** @internal */
  declare after: OpenCall | undefined

  constructor(ticket: number, start: CallStart) {
    this.ticket = ticket
    this.start = start
    this.end = UNDER_WAY
    this.isOpen = false
    this.before = undefined
    this.after = undefined
  }

  /** `summary`: what is kept of what was said. */
  row(summary: (said: string) => string): Invocation {
    const { duration, outcome, code, error, energy, resultBytes, result, said } = this.end
    const { id, names, conversation, startedAt, requestBytes } = this.start
    const { agent, server, tool, surface } = names
    return {
      id,
      agent,
      server,
      tool,
      surface,
      conversation,
      startedAt,
      duration,
      outcome,
      code,
      error,
      pattern: error === undefined ? undefined : errorPattern(error),
      energy,
      requestBytes,
      resultBytes,
      arguments: this.start.arguments,
      result: said === undefined ? result : summary(said),
    }
  }
}

/** The row of a call of which both lines were found. */
export function toInvocation(ticket: number, start: CallStart, end: CallEnd): Invocation {
  const call = new OpenCall(ticket, start)
  call.end = end
  return call.row((said) => said)
}

// --- internal ---

const UNDER_WAY: CallEnd = { duration: 0, outcome: 'unknown', resultBytes: 0 }

const quote: (text: string) => string = JSON.stringify

function optional(text: string | undefined): string {
  return text === undefined ? 'null' : quote(text)
}

/** What is no number in JSON counts as nothing. */
function number(value: number | undefined): number | null {
  if (value === undefined) return null
  return Number.isFinite(value) ? value : 0
}

function toStart(fields: readonly unknown[]): CallStart {
  const [id, agent, server, tool, surface, conversation, startedAt, requestBytes, args, reserved] = fields
  return {
    id: readText(id) ?? '',
    names: new Names(
      readText(agent) ?? '',
      readText(server) ?? '',
      readText(tool) ?? '',
      readText(surface) ?? '',
    ),
    conversation: readText(conversation),
    startedAt: readNumber(startedAt) ?? 0,
    requestBytes: readNumber(requestBytes) ?? 0,
    arguments: readText(args),
    reserved: readNumber(reserved),
  }
}

function toEnd(fields: readonly unknown[]): CallEnd {
  const [duration, outcome, code, error, energy, resultBytes] = fields
  return {
    duration: readNumber(duration) ?? 0,
    outcome: OUTCOMES.find((known) => known === outcome) ?? 'unknown',
    code: readText(code),
    error: readText(error),
    energy: readNumber(energy),
    resultBytes: readNumber(resultBytes) ?? 0,
  }
}

const OUTCOMES: readonly Outcome[] = ['ok', 'error', 'denied', 'timeout', 'cancelled', 'unknown']

function readText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function readNumber(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}
