// Bounds of values that a schema gives, as far as they are sound: a provider refuses all tools for one bad bound.

import { isWellFormed } from './data.ts'

/** The limits of a schema under their present names. */
export function readLimits(schema: Readonly<Record<string, unknown>>): Record<string, unknown> | undefined {
  const limits: Record<string, unknown> = {}
  for (const key of COUNTS) if (isCount(schema[key])) limits[key] = schema[key]
  for (const key of ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'])
    if (isBound(schema[key])) limits[key] = schema[key]
  // Up to draft 4, `exclusiveMinimum: true` said of `minimum` that it is not included.
  for (const [bound, exclusive] of EXCLUSIVE)
    if (schema[exclusive] === true && limits[bound] !== undefined) {
      limits[exclusive] = limits[bound]
      delete limits[bound]
    }
  const step = schema['multipleOf']
  if (isBound(step) && step > 0) limits['multipleOf'] = step
  if (schema['uniqueItems'] === true) limits['uniqueItems'] = true
  const { format, pattern } = schema
  if (typeof format === 'string' && FORMATS.has(format)) limits['format'] = format
  if (typeof pattern === 'string' && isWellFormed(pattern) && isCommonPattern(pattern))
    limits['pattern'] = pattern
  return Object.keys(limits).length === 0 ? undefined : limits
}

// --- internal ---

const COUNTS = ['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties']
const EXCLUSIVE = [
  ['minimum', 'exclusiveMinimum'],
  ['maximum', 'exclusiveMaximum'],
] as const
const FORMATS: ReadonlySet<string> = new Set([
  ...['date-time', 'date', 'time', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uri', 'uuid'],
  ...['int32', 'int64', 'float', 'double'],
])
const MAX_PATTERN = 500

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0
}

/** Beyond the safe integers a bound is not exact on its way, and some providers cannot read it. */
function isBound(value: unknown): value is number {
  return typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER
}

/** Whether all engines understand a pattern: no looking around, no references back, no flags. */
function isCommonPattern(pattern: string): boolean {
  if (pattern === '' || pattern.length > MAX_PATTERN || /\(\?(?!:)|\\[1-9kpP]/.test(pattern)) return false
  try {
    new RegExp(pattern, 'u')
    return true
  } catch {
    // Not a pattern in this dialect.
    return false
  }
}
