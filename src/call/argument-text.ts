// Arguments on their way to a server: as text, because what was decided on is what is sent, to the last digit.

import { Fault } from '../base/fault.ts'
import { MAX_DEPTH } from '../wire/scan.ts'
import type { Target } from './admit.ts'
import { argumentsProblem } from './arguments.ts'
import { badArguments } from './check.ts'

/** Arguments as JSON text, for whom every digit counts: 12345678901234567891 is not …7000. */
export class JsonText {
  readonly text: string

  constructor(text: string) {
    JSON.parse(text)
    this.text = text
  }
}

/** Whether a text that was written here from data needs no closer look: an object, and too short to be nested deeply. */
export function isSimple(text: string): boolean {
  return text.charCodeAt(0) === BRACE && text.length <= MAX_DEPTH
}

/** Throws when a text cannot be the arguments of a call. */
export function refuseArguments({ server, tool }: Target, text: string): void {
  const problem = argumentsProblem(Buffer.from(text))
  if (problem !== undefined) throw badArguments(server === '' ? tool : `${server}/${tool}`, server, problem)
}

export function argumentsText(args: unknown): string {
  if (args instanceof JsonText) return args.text
  try {
    return JSON.stringify(args ?? {}) ?? '{}'
  } catch (error) {
    throw new Fault(
      'USAGE',
      `the arguments cannot be written as JSON: ${error instanceof Error ? error.message : error}`,
    )
  }
}

// --- internal ---

const BRACE = 0x7b
