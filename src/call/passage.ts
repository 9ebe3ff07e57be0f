// One request on its way, as the record sees it: written down before it is sent, and its outcome exactly once after.

import { Fault } from '../base/fault.ts'
import { uuid7 } from '../base/uuid.ts'
import type { Actor } from '../policy/access.ts'
import type { CallEnd } from '../record/recorder.ts'
import type { Records } from '../record/records.ts'
import { argumentsForRecord, resultForRecord } from '../record/summary.ts'
import type { CallSpan } from '../record/trace.ts'
import type { Outcome } from '../store/invocation.ts'
import type { Target } from './admit.ts'
import type { CallContext, Surface } from './context.ts'

/** Who asks, by which door, and in which conversation. */
export interface Asking {
  readonly actor: Actor
  readonly surface: Surface
  readonly conversation?: string | undefined
}

export class Passage {
  readonly #recording: Records | undefined
  readonly #span: CallSpan | undefined
  readonly #started = performance.now()
  #ticket: number | undefined
  #ended = false

  private constructor(recording: Records | undefined, span: CallSpan | undefined) {
    this.#recording = recording
    this.#span = span
  }

  /**
   * Writes down what is about to be done. What may change something is refused when that is not possible: nobody would
   * know of it after a crash.
   */
  static begin(
    context: CallContext,
    { actor, surface, conversation }: Asking,
    { server, tool }: Target,
    text: string,
    mayWrite: boolean,
  ): Passage {
    const recording = context.recording()
    const agent = actor.kind === 'owner' ? '' : actor.id
    const isCall = !tool.startsWith('#')
    const span = context.tracing()?.startSpan({
      method: isCall ? 'tools/call' : tool.slice(1),
      server,
      agent,
      tool: isCall ? tool : undefined,
    })
    const passage = new Passage(recording, span)
    if (recording === undefined) return passage
    try {
      passage.#ticket = recording.recorder.begin({
        id: uuid7(),
        agent,
        server: bounded(server),
        tool: bounded(tool),
        surface,
        conversation,
        startedAt: Date.now(),
        requestBytes: Buffer.byteLength(text),
        arguments: argumentsForRecord(recording.level, text, recording.scrub),
      })
    } catch (error) {
      if (mayWrite) throw error
      recording.trouble(error instanceof Error ? error.message : String(error))
    }
    return passage
  }

  /** Writes down what was refused before anything was done. */
  static refused(context: CallContext, asking: Asking, target: Target, text: string, error: unknown): void {
    Passage.begin(context, asking, target, text, false).failed(error)
  }

  /** It was answered, well or not. `bytes` are read only as far as the record needs them. */
  answered(bytes: Buffer, size: number, isError: boolean, message?: string): void {
    const recording = this.#recording
    // Looked at when the row is written, many at a time; a large one must not be kept for that.
    const isLarge = recording?.level === 'preview' && bytes.length > LARGEST_KEPT
    const kept = isLarge ? Buffer.from(bytes.subarray(0, LARGEST_KEPT)) : bytes
    this.#end(isError ? 'error' : 'ok', {
      code: isError ? 'TOOL_FAILED' : undefined,
      error: message,
      resultBytes: size,
      result: recording && (() => resultForRecord(recording.level, kept, recording.scrub, bytes.length)),
    })
  }

  /** It was not answered. */
  failed(error: unknown): void {
    const fault = error instanceof Fault ? error : undefined
    const message = error instanceof Error ? error.message : String(error)
    this.#end(outcomeOf(fault), { code: fault?.code ?? 'INTERNAL', error: message, resultBytes: 0 })
  }

  #end(outcome: Outcome, end: Pick<CallEnd, 'code' | 'error' | 'resultBytes' | 'result'>): void {
    if (this.#ended) return
    this.#ended = true
    this.#span?.end(outcome, end.code)
    if (this.#ticket === undefined) return
    const { recorder, scrub } = this.#recording as Records
    recorder.end(this.#ticket, {
      ...end,
      error: end.error === undefined ? undefined : scrub(end.error).slice(0, LONGEST_ERROR),
      duration: performance.now() - this.#started,
      outcome,
    })
  }
}

// --- internal ---

/** Bytes of a result that are held until its row is written; a preview needs fewer. */
const LARGEST_KEPT = 64 * 1024
const LONGEST_ERROR = 2000
const LONGEST_NAME = 200

/** Who asks for a name that nobody has may choose it; it is kept to what a name can be. */
function bounded(name: string): string {
  return name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…` : name
}

function outcomeOf(fault: Fault | undefined): Outcome {
  switch (fault?.code) {
    case 'NO_ACCESS':
    case 'NOT_TRUSTED':
      return 'denied'
    case 'CALL_TIMEOUT':
    case 'CONNECT_TIMEOUT':
      return 'timeout'
    case 'CALL_CANCELLED':
    case 'CLOSED':
      return 'cancelled'
    // It was sent, and nobody knows what became of it.
    case 'CONNECTION_LOST':
      return 'unknown'
    default:
      return 'error'
  }
}
