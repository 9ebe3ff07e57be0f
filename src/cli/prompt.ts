// A question to the person at the terminal.

import { createInterface } from 'node:readline/promises'

/** Whether a person can be asked at all. */
export function canAsk(): boolean {
  return Boolean(process.stdin.isTTY && process.stderr.isTTY)
}

/** Asks yes or no; anything but a clear yes is no. */
export async function confirm(question: string, signal: AbortSignal): Promise<boolean> {
  return /^y(?:es)?$/i.test((await ask(`${question} [y/N] `, signal)).trim())
}

/** Asks for a line of text; a closed input is an empty one. */
export async function ask(text: string, signal: AbortSignal): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  // Ctrl-D: the question itself would never be answered, and the command end without a word.
  const closed = new Promise<string>((resolve) => terminal.once('close', () => resolve('')))
  try {
    return await Promise.race([terminal.question(text, { signal }), closed])
  } finally {
    terminal.close()
  }
}
