// Small value types shared by the schema: durations, rates, globs, names.

import * as z from 'zod'

const UNIT_MS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }
const PER_MINUTE: Record<string, number> = { s: 60, sec: 60, min: 1, m: 1, h: 1 / 60, hour: 1 / 60 }

const DURATION = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/
const RATE = /^(\d+(?:\.\d+)?)\/(sec|s|min|m|hour|h)$/

/** `10s`, `500ms`, `2m`, `1h`, or milliseconds as a number; milliseconds after parsing. */
export const duration = z
  .union([z.number().nonnegative(), z.string().regex(DURATION)], {
    error: 'expected a duration such as 500ms, 10s or 2m',
  })
  .transform((value) => {
    const [, amount, unit] = DURATION.exec(String(value)) ?? []
    return typeof value === 'number' ? value : Number(amount) * (UNIT_MS[unit ?? ''] ?? 1)
  })

/** `10/min`, `1/s`, `600/hour`, or a number per minute; per minute after parsing. */
export const ratePerMinute = z
  .union([z.number().nonnegative(), z.string().regex(RATE)], { error: 'expected a rate such as 10/min' })
  .transform((value) => {
    const [, amount, unit] = RATE.exec(String(value)) ?? []
    return typeof value === 'number' ? value : Number(amount) * (PER_MINUTE[unit ?? ''] ?? 1)
  })

/** Text; a number or a boolean is taken as the text a person typed. */
export const text = z
  .union([z.string(), z.number(), z.boolean()], { error: 'expected text' })
  .transform((value) => String(value))

export const textMap = z.record(z.string(), text)

/** A list of texts; a single text stands for a list of one. */
export const textList = z.array(text)

/** A pattern over names: `*` any run of characters, `?` one. Never a regular expression. */
export const glob = z.string().min(1)

export const verdict = z.enum(['allow', 'ask', 'deny'])
export const approvalPreset = z.enum(['always', 'writes', 'destructive', 'never'])

/** Where a name is a label of ours (addresses, file names, prompts), it is kept to what is safe in all of them. */
export const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/
export const NAME_RULE = 'letters, digits, ".", "_" and "-", at most 64, beginning with a letter or digit'
