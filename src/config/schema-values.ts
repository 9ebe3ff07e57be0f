// Small value types shared by the schema: durations, rates, globs, names. The schema is written with zod's functional
// half, which starts three times as fast as the one with methods (docs/decisions/002-dependencies.md).

import * as z from 'zod/mini'

// Compiling a parser for each object pays off after hundreds of objects; a command reads a few dozen once.
z.config({ jitless: true })

const UNIT_MS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }
const PER_MINUTE: Record<string, number> = { s: 60, sec: 60, min: 1, m: 1, h: 1 / 60, hour: 1 / 60 }

const DURATION = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/
const RATE = /^(\d+(?:\.\d+)?)\/(sec|s|min|m|hour|h)$/

/** Says what a value is for; goes to the JSON Schema and the reference page. */
export function about<T extends z.core.$ZodType>(text: string, schema: T): T {
  // A schema has one description: where it is for two things, the second takes a copy.
  const own = z.globalRegistry.has(schema) ? z.clone(schema) : schema
  z.globalRegistry.add(own, { description: text })
  return own
}

function milliseconds(value: number | string): number {
  const [, amount, unit] = DURATION.exec(String(value)) ?? []
  return typeof value === 'number' ? value : Number(amount) * (UNIT_MS[unit ?? ''] ?? 1)
}

const DURATION_TEXT = 'expected a duration such as 500ms, 10s or 2m'
/** `10s`, `500ms`, `2m`, `1h`, or milliseconds as a number; milliseconds after parsing. */
export const duration = z.pipe(
  z.union(
    [z.number().check(z.nonnegative()), z.string().check(z.regex(DURATION, { error: DURATION_TEXT }))],
    { error: DURATION_TEXT },
  ),
  z.transform(milliseconds),
)

const DEADLINE_TEXT = 'expected a duration above 0, such as 500ms, 10s or 2m'
/** The same where zero would mean "at once", and nothing could ever be in time. */
export const deadline = z.pipe(
  z.union(
    [
      z.number().check(z.positive()),
      z
        .string()
        .check(
          z.regex(DURATION, { error: DURATION_TEXT, abort: true }),
          z.regex(/[1-9]/, { error: DEADLINE_TEXT }),
        ),
    ],
    { error: DURATION_TEXT },
  ),
  z.transform(milliseconds),
)

const UNIT_BYTES: Record<string, number> = { B: 1, KB: 1024, MB: 1024 ** 2, GB: 1024 ** 3 }
const SIZE = /^(\d+(?:\.\d+)?)(B|KB|MB|GB)$/
const SIZE_TEXT = 'expected a size such as 512KB or 16MB'
/** `512KB`, `16MB`, or a number of bytes; bytes after parsing. */
export const size = z.pipe(
  z.union([z.number().check(z.positive()), z.string().check(z.regex(SIZE, { error: SIZE_TEXT }))], {
    error: SIZE_TEXT,
  }),
  z.transform((value: number | string) => {
    const [, amount, unit] = SIZE.exec(String(value)) ?? []
    return Math.floor(typeof value === 'number' ? value : Number(amount) * (UNIT_BYTES[unit ?? ''] ?? 1))
  }),
)

const RATE_TEXT = 'expected a rate such as 10/min'
/** `10/min`, `1/s`, `600/hour`, or a number per minute; per minute after parsing. */
export const ratePerMinute = z.pipe(
  z.union([z.number().check(z.nonnegative()), z.string().check(z.regex(RATE, { error: RATE_TEXT }))], {
    error: RATE_TEXT,
  }),
  z.transform((value: number | string) => {
    const [, amount, unit] = RATE.exec(String(value)) ?? []
    return typeof value === 'number' ? value : Number(amount) * (PER_MINUTE[unit ?? ''] ?? 1)
  }),
)

/** How often, and how many at once: all of what a stretch of time allows may come in its first moment. */
export interface RequestRate {
  readonly perSecond: number
  readonly burst: number
}

const REQUEST_RATE_TEXT = 'expected a rate such as 100/s or 600/min'
/** `100/s`, `600/min`; nothing when it is absent. */
export const requestRate = z.optional(
  z.pipe(
    z.string({ error: REQUEST_RATE_TEXT }).check(
      z.regex(RATE, { error: REQUEST_RATE_TEXT }),
      // What is no rate is told once.
      z.refine((value) => !RATE.test(value) || Number.parseFloat(value) > 0, {
        error: 'expected a rate above 0, such as 100/s',
      }),
    ),
    z.transform((value: string): RequestRate => {
      const [, amount, unit] = RATE.exec(value) ?? []
      return {
        perSecond: (Number(amount) * (PER_MINUTE[unit ?? ''] ?? 1)) / 60,
        burst: Math.max(1, Math.floor(Number(amount))),
      }
    }),
  ),
)

/** Text; a number or a boolean is taken as the text a person typed. */
export const text = z.pipe(
  z.union([z.string(), z.number(), z.boolean()], { error: 'expected text' }),
  z.transform((value: string | number | boolean) => String(value)),
)

export const textList = z.array(text)

/** Text that is not empty. */
export const word = z.string().check(z.minLength(1))

/** A name as a Host header has it: compared with that, so an address, a path or a pattern would match nothing. */
export const hostName = z.string().check(
  z.regex(/^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/, {
    error:
      'expected a name as a Host header has it, such as gate.example or gate.example:8080; no scheme, path or *',
  }),
)

/** A pattern over names: `*` any run of characters, `?` one. Never a regular expression. */
export const glob = z.string().check(z.minLength(1))

export const verdict = z.enum(['allow', 'ask', 'deny'])
export const approvalPreset = z.enum(['always', 'writes', 'destructive', 'never'])

/** Where a name is a label of ours (addresses, file names, prompts), it is kept to what is safe in all of them. */
export const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/
export const NAME_RULE = 'letters, digits, ".", "_" and "-", at most 64, beginning with a letter or digit'
