// One request on its way, as the record sees it: written down before it is sent, and its outcome exactly once after.

import { Fault } from '../base/fault.ts'
import { uuid7 } from '../base/uuid.ts'
import { type Actor, agentOf } from '../policy/access.ts'
import type { CallEnd, OpenCall } from '../record/recorder.ts'
import type { Records } from '../record/records.ts'
import { argumentsForRecord, resultForRecord } from '../record/summary.ts'
import type { CallSpan, Tracing } from '../record/trace.ts'
import type { Outcome } from '../store/invocation.ts'
import { type ReplyMessage, slice, textOf } from '../wire/message.ts'
import type { Target } from './admit.ts'
import type { CallContext, Surface } from './context.ts'
import type { Metering } from './meter.ts'

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
  readonly meter?: Metering | undefined
  /** Told how something ended that was sent. Must not throw. */
  readonly onEnd?: ((outcome: Outcome, message: string | undefined) => void) | undefined
}

export class Passage {
  readonly #recording: Records | undefined
  readonly #span: CallSpan | undefined
  readonly #terms: Terms
  readonly #started = performance.now()
  #call: OpenCall | undefined
  #sent = false
  #ended = false

  private constructor(recording: Records | undefined, span: CallSpan | undefined, terms: Terms) {
    this.#recording = recording
    this.#span = span
    this.#terms = terms
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
    const agent = agentOf(actor)
    const passage = new Passage(recording, spanFor(context.tracing(), agent, server, tool), terms)
    if (recording === undefined) return passage
    const now = Date.now()
    passage.#call = recording.recorder.begin({
      id: uuid7(now),
      agent,
      server: bounded(server),
      tool: bounded(tool),
      surface,
      conversation,
      startedAt: now,
      requestBytes: Buffer.byteLength(text),
      reserved: terms.meter?.reserved,
      arguments: argumentsForRecord(recording.level, text, recording.scrub),
    })
    return passage
  }

  /** Writes down what was refused before anything was done. */
  static async refused(
    context: CallContext,
    asking: Asking,
    target: Target,
    text: string,
    error: unknown,
  ): Promise<void> {
    const passage = Passage.begin(context, asking, target, text, REFUSED)
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
  }

  /** It was answered, well or not. */
  answered(reply: ReplyMessage, isError: boolean, message?: string): void {
    this.#end(isError ? 'error' : 'ok', isError ? 'TOOL_FAILED' : undefined, message, reply)
  }

  /** It was not answered. */
  failed(error: unknown): void {
    const fault = error instanceof Fault ? error : undefined
    const message = error instanceof Error ? error.message : String(error)
    this.#end(outcomeOf(fault, this.#sent), fault?.code ?? 'INTERNAL', message, undefined)
  }

  // --- internal ---

  #end(outcome: Outcome, code: string | undefined, message: string | undefined, reply?: ReplyMessage): void {
    if (this.#ended) return
    this.#ended = true
    this.#span?.end(outcome, code)
    const duration = rounded(performance.now() - this.#started)
    const { meter, onEnd } = this.#terms
    if (!this.#sent) meter?.giveBack()
    else onEnd?.(outcome, message)
    const energy = this.#sent ? meter?.settle(duration) : undefined
    const recording = this.#recording
    if (this.#call === undefined || recording === undefined) return
    const { result, said } = reply ? keptOf(recording, reply) : NOTHING
    recording.recorder.end(this.#call, {
      duration,
      outcome,
      code,
      error: message === undefined ? undefined : recording.scrub(message).slice(0, LONGEST_ERROR),
      energy,
      resultBytes: reply?.bytes.length ?? 0,
      result,
      said,
    })
  }
}

// --- internal ---

/** Bytes up to which an answer is read through for a preview of it. */
const LARGEST_READ = 64 * 1024
const LONGEST_ERROR = 2000
const LONGEST_NAME = 200

/**
 * What is kept of an answer. A small one with text in it, which is nearly every one, is handed over as it is: texts are
 * found wherever they stand, so it need not be read now.
 */
function keptOf({ level, scrub }: Records, reply: ReplyMessage): Pick<CallEnd, 'result' | 'said'> {
  const { kind, bytes } = reply
  const size = bytes.length
  const text = level === 'preview' && kind === 'result' ? textOf(reply) : undefined
  if (text?.includes('"text"')) return { said: text }
  if (level !== 'preview' || size <= LARGEST_READ)
    return { result: resultForRecord(level, slice(reply, kind) ?? bytes, scrub, size) }
  const beginning = bytes.subarray(bytes.indexOf(RESULT) + RESULT.length)
  return { result: resultForRecord(level, beginning, scrub, size) }
}

const REFUSED: Terms = { mayWrite: false }
const RESULT = Buffer.from('"result":')
const NOTHING: Pick<CallEnd, 'result' | 'said'> = {}

function spanFor(
  tracing: Tracing | undefined,
  agent: string,
  server: string,
  tool: string,
): CallSpan | undefined {
  if (tracing === undefined) return undefined
  const isCall = !tool.startsWith('#')
  return tracing.startSpan({
    method: isCall ? 'tools/call' : tool.slice(1),
    server,
    agent,
    tool: isCall ? tool : undefined,
  })
}

/** To the microsecond: a number with fewer digits is written in half the time. */
function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 1000) / 1000
}

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
