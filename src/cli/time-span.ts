// Spans of time as people write them after an option.

import { Fault } from '../base/fault.ts'
import { duration } from '../config/schema-values.ts'

const DAY = 24 * 60 * 60 * 1000

/** Milliseconds; `example` is how it could have been written. */
export function timeSpan(option: string, text: string, example: string): number {
  const days = /^(\d+(?:\.\d+)?)d$/.exec(text)?.[1]
  if (days !== undefined && Number(days) > 0) return Number(days) * DAY
  const parsed = duration.safeParse(text)
  if (parsed.success && parsed.data > 0) return parsed.data
  throw new Fault('USAGE', `--${option} is "${text}"`, { hint: `write it like ${example}` })
}
