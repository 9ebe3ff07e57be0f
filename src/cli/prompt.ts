// A question to the person at the terminal.

import { createInterface } from 'node:readline/promises'

/** Whether a person can be asked at all. */
export function canAsk(): boolean {
  return Boolean(process.stdin.isTTY && process.stderr.isTTY)
}

/** Asks yes or no; anything but a clear yes is no, the end of the input as well. */
export async function confirm(question: string, signal: AbortSignal): Promise<boolean> {
  return /^y(?:es)?$/i.test(((await ask(`${question} [y/N] `, signal)) ?? '').trim())
}

/** Asks for a line of text; undefined when the input ended (Ctrl-D), which is no empty line. Ctrl-C ends the command. */
export async function ask(text: string, signal: AbortSignal): Promise<string | undefined> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  // What is said next begins a line of its own.
  const leave = () => process.stderr.write('\n')
  // It keeps the keys for itself, so the way out must be told; left alone, it would only close.
  terminal.on('SIGINT', () => {
    leave()
    process.kill(process.pid, 'SIGINT')
  })
  // The question itself would never be answered, and the command end without a word.
  const closed = new Promise<undefined>((resolve) => terminal.once('close', () => resolve(undefined)))
  try {
    const answer = await Promise.race([terminal.question(text, { signal }), closed])
    if (answer === undefined) leave()
    return answer
  } finally {
    terminal.close()
  }
}
