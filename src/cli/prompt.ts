// A question to the person at the terminal.

import { createInterface } from 'node:readline/promises'

/** Whether a person can be asked at all. */
export function canAsk(): boolean {
  return Boolean(process.stdin.isTTY && process.stderr.isTTY)
}

/** Asks yes or no; anything but a clear yes is no. */
export async function confirm(question: string, signal: AbortSignal): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const answer = await terminal.question(`${question} [y/N] `, { signal })
    return /^y(?:es)?$/i.test(answer.trim())
  } finally {
    terminal.close()
  }
}
