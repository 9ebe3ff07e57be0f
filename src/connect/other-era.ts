// A modern server over http whose place another one takes that speaks another era: rolled back, for example. There is no
// session that it could say it has forgotten, so it refuses what it is sent, and says so in its own way. Then it is asked
// once whether it still is what it was; where it is not, the connection to it is given up, and agreed anew.

import { Fault } from '../base/fault.ts'
import type { Stop } from '../base/stop.ts'
import { type Agreement, ERROR } from '../wire/era.ts'
import { type ErrorMessage, errorOf, type ReplyMessage } from '../wire/message.ts'
import { isSameId } from './http/answer.ts'
import { isModern } from './negotiate.ts'
import { abortable } from './pause.ts'

/** Whether this refusal of a modern request, with the error in its body, may be that of a server that does not know such requests. */
export function mayBeOther(
  status: number,
  body: string,
  error: ErrorMessage | undefined,
  id: number,
): boolean {
  if (error === undefined) return UNKNOWING.has(status)
  const { code } = errorOf(error)
  if (code === ERROR.unsupportedVersion) return true
  if (!UNKNOWING.has(status) || MODERN_ERRORS.has(code)) return false
  // Who gives back our id has read the request, and speaks of what it is about, unless it says otherwise.
  return !isSameId(error.id, id) || (OLDER_ERRORS.has(code) && SPEAKS_OF_ERA.test(body))
}

/** The same fault, saying that nothing was done of what was asked. */
export function unread({ code, message, hint, server, details, cause }: Fault): Fault {
  return new Fault(code, message, { hint, server, details: { ...details, unread: true }, cause })
}

export function isUnread(error: unknown): error is Fault {
  return error instanceof Fault && error.details?.['unread'] === true
}

/** Whether who answers `server/discover` so is still the server that was agreed with. */
export function isStill(reply: ReplyMessage, { serverInfo, capabilities }: Agreement): boolean {
  if (reply.kind === 'result') return isModern(reply)
  const { code, message } = errorOf(reply)
  // Not every modern server has known the question before.
  if (code === ERROR.methodNotFound) return serverInfo === undefined && Object.keys(capabilities).length === 0
  return code !== ERROR.unsupportedVersion && !(OLDER_ERRORS.has(code) && SPEAKS_OF_ERA.test(message))
}

export class EraDoubt {
  readonly #server: string
  readonly #isStill: () => Promise<boolean>
  readonly #giveUp: (fault: Fault) => void
  #asking: Promise<boolean> | undefined
  #pause = FIRST_PAUSE
  /** On the monotonic clock. */
  #calmUntil = 0

  /** `isStill` asks the server; where it throws anything but that it was refused in the same way, nothing is known. */
  constructor(server: string, isStill: () => Promise<boolean>, giveUp: (fault: Fault) => void) {
    this.#server = server
    this.#isStill = isStill
    this.#giveUp = giveUp
  }

  /** Whether the connection was given up for it. A server that refuses again and again is asked later and later. */
  raise(): Promise<boolean> {
    if (this.#asking === undefined && performance.now() < this.#calmUntil) return Promise.resolve(false)
    this.#asking ??= this.#ask()
    return this.#asking
  }

  /** Whether nothing was done of what failed so, and the connection was given up for it. Whoever has called may give up. */
  async isRefusal(error: unknown, signal: Stop | undefined): Promise<boolean> {
    if (!isUnread(error)) return false
    const doubt = this.raise()
    return await (signal ? abortable(doubt, signal, this.#server) : doubt)
  }

  // --- internal ---

  async #ask(): Promise<boolean> {
    let said = `${this.#server} speaks another version of the protocol than before`
    const isStill = await this.#isStill().catch((error: unknown) => {
      // It may also be nobody's place any more; then what is said there is what people need.
      if (isUnread(error)) said = error.message
      return !isUnread(error)
    })
    if (!isStill) {
      this.#giveUp(new Fault('CONNECTION_LOST', said, { server: this.#server }))
      return true
    }
    this.#asking = undefined
    this.#calmUntil = performance.now() + this.#pause
    this.#pause = Math.min(this.#pause * 2, LONGEST_PAUSE)
    return false
  }
}

// --- internal ---

const FIRST_PAUSE = 1_000
const LONGEST_PAUSE = 60_000

/** What who does not know a request answers; a modern server has other words for what it does not like about one. */
const UNKNOWING: ReadonlySet<number> = new Set([400, 404, 405, 415])
/** Given by modern servers only, also before they read a request. */
const MODERN_ERRORS: ReadonlySet<number> = new Set([ERROR.headerMismatch, ERROR.missingCapability])
/** With these legacy servers refuse what comes without a session, or with a version that they do not know. */
const OLDER_ERRORS: ReadonlySet<number> = new Set([-32000, ERROR.invalidRequest])
/** Not a session of a browser, say. */
const SPEAKS_OF_ERA =
  /\bmcp.session|\bsession.?id\b|\b(?:no|missing|invalid|unknown|expired) (?:valid |mcp )?session\b|\bnot (?:yet |been )*initiali[sz]ed|protocol.?version/i
