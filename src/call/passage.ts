// One request on its way, as the record sees it: written down before it is sent, and its outcome exactly once after.

import { Fault } from '../base/fault.ts'
import { Stopwatch } from '../base/stopwatch.ts'
import { uuid7 } from '../base/uuid.ts'
import { type Actor, agentOf } from '../policy/access.ts'
import { Names } from '../record/names.ts'
import type { OpenCall, WriteWaiting } from '../record/recorder.ts'
import type { Records } from '../record/records.ts'
import { argumentsForRecord, errorForRecord, resultForRecord } from '../record/summary.ts'
import type { CallSpan, Tracing } from '../record/trace.ts'
import type { Outcome } from '../store/invocation.ts'
import { type ReplyMessage, slice } from '../wire/message.ts'
import type { Target } from './admit.ts'
import type { CallContext, Surface } from './context.ts'

/** Who asks, by which door, and in which conversation. */
export interface Asking {
  readonly actor: Actor
  readonly surface: Surface
  /** Of the client, where it has one. */
  readonly session?: string | undefined
  readonly conversation?: string | undefined
}

/** On what terms a request goes. */
export interface Terms {
  /** Then it is not sent when it cannot be written down. */
  readonly mayWrite: boolean
  /** What it costs if nobody ever learns more; undefined where nothing is metered. */
  readonly reserved?: number | undefined
  /**
   * Told once how it ended, whether it was sent at all, and for how many milliseconds its server worked on it; tells what
   * it cost. Must not throw.
   */
  ended(sent: boolean, worked: number, outcome: Outcome, message: string | undefined): number | undefined
}

/** Terms of what costs nothing. */
export function unmetered(mayWrite: boolean): Terms {
  return mayWrite ? FREE_TO_WRITE : FREE
}

export class Passage {
  readonly #recording: Records | undefined
  readonly #call: OpenCall | undefined
  readonly #span: CallSpan | undefined
  readonly #terms: Terms
  readonly #started: number
  /** What its server's work on it is timed by: from when it is sent, less what others are waited for. */
  readonly clock: Stopwatch
  #sent: boolean
  #goOn: (() => void) | undefined
  #ended: boolean

  private constructor(
    recording: Records | undefined,
    call: OpenCall | undefined,
    span: CallSpan | undefined,
    terms: Terms,
    started: number,
    clock: Stopwatch,
    sent: boolean,
  ) {
    this.#recording = recording
    this.#call = call
    this.#span = span
    this.#terms = terms
    this.#started = started
    this.clock = clock
    this.#sent = sent
    this.#goOn = undefined
    this.#ended = false
  }

  /** Says what is about to be done; it may be done when that is `written`. */
  static begin(
    context: CallContext,
    { actor, surface, conversation }: Asking,
    { server, tool }: Target,
    text: string,
    terms: Terms,
  ): Passage {
    const recording = context.recording()
    const tracing = context.tracing()
    const names = new Names(agentOf(actor), bounded(server), bounded(tool), surface)
    const span = tracing?.isOn ? spanFor(tracing, names) : undefined
    const started = performance.now()
    const clock = new Stopwatch()
    if (recording === undefined) return new Passage(undefined, undefined, span, terms, started, clock, false)
    const now = Date.now()
    const start = {
      id: uuid7(now),
      names,
      conversation,
      startedAt: now,
      requestBytes: Buffer.byteLength(text),
      reserved: terms.reserved,
      arguments: argumentsForRecord(recording.level, text, recording.scrub),
    }
    return new Passage(recording, recording.recorder.begin(start), span, terms, started, clock, false)
  }

  /** Of what was begun elsewhere, the rest. */
  static under(
    recording: Records | undefined,
    call: OpenCall | undefined,
    span: CallSpan | undefined,
    terms: Terms,
    started: number,
    clock: Stopwatch,
    sent: boolean,
  ): Passage {
    return new Passage(recording, call, span, terms, started, clock, sent)
  }

  /** Writes down what was refused before anything was done. */
  static async refused(
    context: CallContext,
    asking: Asking,
    target: Target,
    text: string,
    error: unknown,
  ): Promise<void> {
    const passage = Passage.begin(context, asking, target, text, FREE)
    passage.failed(error)
    await passage.written()
  }

  /**
   * To be waited for before it is sent, and before its outcome is told: resolves when what was said survives this
   * process, or with why not. Undefined where nothing is recorded.
   */
  written(): Promise<Fault | undefined> | undefined {
    return this.#call && this.#recording?.recorder.written()
  }

  /** What may change something is not sent when that could not be written: nobody would know of it after a crash. */
  proceed(fault: Fault | undefined): void {
    if (fault !== undefined) {
      if (this.#terms.mayWrite) throw fault
      this.#recording?.trouble(fault.message)
    }
  }

  /** From now on it counts as sent: it costs, and a lost connection leaves its outcome unknown. */
  sent(): void {
    this.#sent = true
    this.clock.start()
    this.#goOn?.()
    this.#goOn = undefined
  }

  /** Nothing was done of what was sent: until it is sent again nobody works on it. */
  unsent(): void {
    this.#sent = false
    this.#goOn = this.clock.hold()
  }

  /** It was answered, well or not. */
  answered(reply: ReplyMessage, isError: boolean, message?: string, waiting?: WriteWaiting): void {
    this.#end(isError ? 'error' : 'ok', isError ? 'TOOL_FAILED' : undefined, message, reply, waiting)
  }

  /** It was sent, and nothing answers it. */
  told(): void {
    this.#end('ok', undefined, undefined, undefined)
  }

  /** It was not answered. */
  failed(error: unknown, waiting?: WriteWaiting): void {
    const fault = error instanceof Fault ? error : undefined
    const message = error instanceof Error ? error.message : String(error)
    this.#end(outcomeOf(fault, this.#sent), fault?.code ?? 'INTERNAL', message, undefined, waiting)
  }

  // --- internal ---

  /** The first time counts. `waiting` is told when that is written down; at once where nothing is. */
  #end(
    outcome: Outcome,
    code: string | undefined,
    message: string | undefined,
    reply: ReplyMessage | undefined,
    waiting?: WriteWaiting,
  ): void {
    if (this.#ended) {
      waiting?.written(undefined)
      return
    }
    const recording = this.#recording
    const said = recording && reply && saidIn(recording, reply)
    // Before anything is settled: an answer that is broken shows here, and then it has failed.
    const result = recording && reply && said === undefined ? keptOf(recording, reply) : undefined
    this.#ended = true
    this.#span?.end(outcome, code)
    const duration = rounded(performance.now() - this.#started)
    const energy = this.#terms.ended(this.#sent, rounded(this.clock.elapsed), outcome, message)
    const call = this.#call
    if (call === undefined || recording === undefined) {
      waiting?.written(undefined)
      return
    }
    const error = message === undefined ? undefined : errorForRecord(message, recording.scrub)
    const resultBytes = reply?.bytes.length ?? 0
    const end = { duration, outcome, code, error, energy, resultBytes, result, said }
    recording.recorder.end(call, end, waiting)
  }
}

/**
 * A small answer with text in it, which is nearly every one, is handed over as it is: texts are found wherever they stand,
 * so it need not be read now.
 */
function saidIn({ level }: Records, reply: ReplyMessage): string | undefined {
  const letters = level === 'preview' && reply.kind === 'result' ? reply.letters : undefined
  return letters?.includes('"text"') ? letters : undefined
}

export function spanFor(tracing: Tracing, { agent, server, tool }: Names): CallSpan | undefined {
  const isCall = !tool.startsWith('#')
  return tracing.startSpan({
    method: isCall ? 'tools/call' : tool.slice(1),
    server,
    agent,
    tool: isCall ? tool : undefined,
  })
}

/** To the microsecond: a number with fewer digits is written in half the time. */
export function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 1000) / 1000
}

// --- internal ---

/** Bytes up to which an answer is read through for a preview of it. */
const LARGEST_READ = 64 * 1024
const LONGEST_NAME = 200

/** What is kept of any other. */
function keptOf({ level, scrub }: Records, reply: ReplyMessage): string {
  const { kind, bytes } = reply
  const size = bytes.length
  if (level !== 'preview' || size <= LARGEST_READ)
    return resultForRecord(level, slice(reply, kind) ?? bytes, scrub, size)
  const beginning = bytes.subarray(bytes.indexOf(RESULT) + RESULT.length)
  return resultForRecord(level, beginning, scrub, size)
}

const FREE: Terms = { mayWrite: false, ended: () => undefined }
const FREE_TO_WRITE: Terms = { ...FREE, mayWrite: true }
const RESULT = Buffer.from('"result":')

/** Who asks for a name that nobody has may choose it; it is kept to what a name can be. */
function bounded(name: string): string {
  return name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…` : name
}

function outcomeOf(fault: Fault | undefined, sent: boolean): Outcome {
  switch (fault?.code) {
    case 'NO_ACCESS':
    case 'NOT_TRUSTED':
    case 'APPROVAL_PENDING':
    case 'APPROVAL_DENIED':
    case 'APPROVALS_FULL':
    case 'TOOL_CHANGED':
    case 'OUT_OF_ENERGY':
    case 'LOOP_STOPPED':
      return 'denied'
    case 'CALL_TIMEOUT':
    case 'CONNECT_TIMEOUT':
      return 'timeout'
    case 'CALL_CANCELLED':
    case 'CLOSED':
      return 'cancelled'
    // It was sent, and nobody knows what became of it.
    case 'CONNECTION_LOST':
      return sent ? 'unknown' : 'error'
    default:
      return 'error'
  }
}
