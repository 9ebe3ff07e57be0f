// The few keywords of JSON Schema that most tools do with, checked directly. It only says yes: what it does not know or
// does not accept is for the compiler, which also tells what is wrong. Most processes then never load that, and it is as
// much code as a third of all the rest.

import { isRecord } from '../base/record.ts'

export type Accepts = (value: unknown) => boolean

/** Whether a value fits a schema, for sure; undefined for a schema that says more than is known here. */
export function plainCheck(schema: unknown): Accepts | undefined {
  return checkOf(schema, { levels: MAX_LEVELS, budget: { checks: MAX_CHECKS } })
}

// --- internal ---

const ANYTHING: Accepts = () => true

/** Deeper and larger ones are for the compiler, which has the same limit: each check may be made for each part of a value. */
const MAX_LEVELS = 16
const MAX_CHECKS = 400

interface Room {
  readonly levels: number
  /** One for all of a schema. */
  readonly budget: { checks: number }
}

/** Keywords that say something about a schema and nothing about a value. */
const SILENT: ReadonlySet<string> = new Set([
  ...['$comment', '$schema', 'default', 'deprecated', 'description', 'examples', 'readOnly', 'title'],
  'writeOnly',
])

const TYPES: ReadonlyMap<unknown, Accepts> = new Map<unknown, Accepts>([
  ['string', (value) => typeof value === 'string'],
  ['number', (value) => typeof value === 'number' && Number.isFinite(value)],
  ['integer', Number.isInteger],
  ['boolean', (value) => typeof value === 'boolean'],
  ['null', (value) => value === null],
  ['array', Array.isArray],
  ['object', isRecord],
])

/** What a keyword asks of a value of its type; of any other value it asks nothing. */
const LIMITS: ReadonlyMap<string, (limit: number) => Accepts> = new Map<string, (limit: number) => Accepts>([
  ['minimum', (limit) => (value) => typeof value !== 'number' || value >= limit],
  ['maximum', (limit) => (value) => typeof value !== 'number' || value <= limit],
  ['exclusiveMinimum', (limit) => (value) => typeof value !== 'number' || value > limit],
  ['exclusiveMaximum', (limit) => (value) => typeof value !== 'number' || value < limit],
  ['minItems', (limit) => (value) => !Array.isArray(value) || value.length >= limit],
  ['maxItems', (limit) => (value) => !Array.isArray(value) || value.length <= limit],
])

function checkOf(schema: unknown, { levels, budget }: Room): Accepts | undefined {
  if (schema === true) return ANYTHING
  if (!isRecord(schema) || levels === 0) return undefined
  const room = { levels: levels - 1, budget }
  const checks: Accepts[] = []
  for (const keyword of Object.keys(schema)) {
    if (SILENT.has(keyword) || keyword.startsWith('x-')) continue
    budget.checks -= 1
    const check = budget.checks < 0 ? undefined : keywordCheck(keyword, schema, room)
    if (check === undefined) return undefined
    if (check !== ANYTHING) checks.push(check)
  }
  const [first, ...others] = checks
  if (first === undefined) return ANYTHING
  return others.length === 0 ? first : allOf(checks)
}

/** Plain loops, here and below: this is run for every call, and to step through a list by its iterator costs as much again. */
function allOf(checks: readonly Accepts[]): Accepts {
  return (value) => {
    for (let at = 0; at < checks.length; at++) if (!checks[at]?.(value)) return false
    return true
  }
}

function keywordCheck(
  keyword: string,
  schema: Readonly<Record<string, unknown>>,
  room: Room,
): Accepts | undefined {
  const said = schema[keyword]
  switch (keyword) {
    case 'type':
      return Array.isArray(said) ? anyOf(said.map((type) => TYPES.get(type))) : TYPES.get(said)
    case 'enum':
      return Array.isArray(said) ? oneOf(said) : undefined
    case 'const':
      return oneOf([said])
    case 'anyOf':
      return Array.isArray(said) ? anyOf(said.map((one) => checkOf(one, room))) : undefined
    case 'items':
      return itemsCheck(checkOf(said, room))
    case 'required':
    case 'properties':
    case 'additionalProperties':
      // All that is said of an object's members is checked in one go, with the first of these words.
      return keyword === MEMBER_WORDS.find((word) => Object.hasOwn(schema, word))
        ? membersCheck(schema, room)
        : ANYTHING
    default: {
      const limit = LIMITS.get(keyword)
      return typeof said === 'number' ? limit?.(said) : undefined
    }
  }
}

function anyOf(checks: readonly (Accepts | undefined)[]): Accepts | undefined {
  if (checks.length === 0) return undefined
  const known = checks.filter((check) => check !== undefined)
  return known.length === checks.length ? (value) => known.some((check) => check(value)) : undefined
}

/** Of words, numbers and such; what is put together is compared by the compiler. */
function oneOf(allowed: readonly unknown[]): Accepts | undefined {
  if (allowed.length === 0 || allowed.some((one) => typeof one === 'object' && one !== null)) return undefined
  const set = new Set(allowed)
  return (value) => set.has(value)
}

function itemsCheck(check: Accepts | undefined): Accepts | undefined {
  return check && ((value) => !Array.isArray(value) || value.every(check))
}

const MEMBER_WORDS = ['required', 'properties', 'additionalProperties'] as const

/** What every tool has, so it is one function: each that a call goes through costs more than what it looks at. */
function membersCheck(
  { required = [], properties = {}, additionalProperties = true }: Readonly<Record<string, unknown>>,
  room: Room,
): Accepts | undefined {
  if (!isRecord(properties) || !Array.isArray(required)) return undefined
  const wanted = required.filter((name) => typeof name === 'string')
  if (wanted.length < required.length) return undefined
  const known = new Map<string, Accepts>()
  for (const name of Object.keys(properties)) {
    // The compiler passes over a name that no program should have.
    const check = name === '__proto__' ? undefined : checkOf(properties[name], room)
    if (check === undefined) return undefined
    known.set(name, check)
  }
  const others = additionalProperties === false ? () => false : checkOf(additionalProperties, room)
  if (others === undefined) return undefined
  return (value) => {
    if (!isRecord(value)) return true
    for (let at = 0; at < wanted.length; at++) if (!Object.hasOwn(value, wanted[at] ?? '')) return false
    const names = Object.keys(value)
    for (let at = 0; at < names.length; at++) {
      const name = names[at] ?? ''
      if (!(known.get(name) ?? others)(value[name])) return false
    }
    return true
  }
}
