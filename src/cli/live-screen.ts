// Some lines at the end of a terminal that are drawn over and over, while everything else is written above them. The cursor
// is neither hidden nor put anywhere but below them, so there is nothing to restore, even after a `kill -9`.

/** A line as it is written, and how many columns it takes. */
export interface DrawnLine {
  readonly text: string
  readonly width: number
}

/** The part of a terminal that is needed. */
export interface Terminal {
  readonly columns: number
  readonly rows: number
  write(text: string): unknown
}

export class LiveScreen {
  readonly #terminal: Terminal
  #drawn: readonly DrawnLine[] = []

  constructor(terminal: Terminal) {
    this.#terminal = terminal
  }

  /** Whether nothing of it is on the terminal. */
  get empty(): boolean {
    return this.#drawn.length === 0
  }

  /** Puts these lines in place of the last ones, in one write. None may be wider than the terminal. */
  draw(lines: readonly DrawnLine[]): void {
    this.#terminal.write(this.#back() + lines.map(({ text }) => `${text}\n`).join(''))
    this.#drawn = lines
  }

  /** Takes the lines away; what is written next stands where they were. */
  wipe(): void {
    if (this.empty) return
    this.#terminal.write(this.#back())
    this.#drawn = []
  }

  /** Leaves the lines where they are and begins anew below: somebody else has written meanwhile. */
  forget(): void {
    this.#drawn = []
  }

  // --- internal ---

  /**
   * Back to where the first line begins, row by row: some terminals keep what is cleared at one go from the top. One that
   * became narrower shows a long line on several rows.
   */
  #back(): string {
    const columns = Math.max(1, this.#terminal.columns)
    const rows = this.#drawn.reduce((sum, { width }) => sum + Math.max(1, Math.ceil(width / columns)), 0)
    return rows === 0 ? '' : `\r\u001b[K${'\u001b[A\u001b[K'.repeat(rows)}`
  }
}
