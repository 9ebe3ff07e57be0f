// What was seen of a server that does not say whom it asks: which of its tools ask in the course of a call, and which of
// them may do so after the answer. Of a tool nothing is known until its first call is over.

/** What a request is about, as far as asking is concerned. */
export function subjectOf({ method, name }: { readonly method: string; readonly name?: string | undefined }) {
  return method === 'tools/call' ? (name ?? '') : `#${method}`
}

/** Reading is taken to ask nothing until it is seen to. */
const READING = ['#resources/read', '#prompts/get']

export class Habits {
  /** One that asked may always do so again. */
  readonly #asks = new Map<string, boolean>(READING.map((subject) => [subject, false]))
  readonly #silent = new Set<string>(READING)

  mayAsk(subject: string): boolean {
    return this.#asks.get(subject) !== false
  }

  /** Whether it may ask when it has been answered. */
  mayAskLater(subject: string): boolean {
    return !this.#silent.has(subject)
  }

  /** A call of it is over. `doubtful`: a question came that may have been its own. */
  called(subject: string, asked: boolean | 'doubtful'): void {
    const known = this.#asks.get(subject)
    if (asked === true || (asked === false && known === undefined)) this.#asks.set(subject, asked)
    // The next call is made alone, and shows it.
    else if (asked === 'doubtful' && known === false) this.#asks.delete(subject)
  }

  /** It asked nothing for a while after its answer. */
  wasSilent(subject: string): void {
    this.#silent.add(subject)
  }
}
