// What is wrong with arguments, in words that help a person or a model to write better ones.

import { isRecord } from '../base/record.ts'

export interface ArgumentProblem {
  /** Where, as a JSON pointer: '' or '/a/0/b'. */
  readonly path: string
  /** `must be one of: open, closed`; `missing: title`; `must be a number, is a string`. Never a part of a value. */
  readonly message: string
}

/** An error as ajv gives it. */
interface Found {
  readonly keyword: string
  readonly instancePath: string
  readonly params: Readonly<Record<string, unknown>>
  readonly propertyName?: string | undefined
}

/** The first five problems; errors about the same thing are one. */
export function problemsOf(found: readonly Found[], value: unknown): ArgumentProblem[] {
  const groups = new Map<string, Found[]>()
  for (const error of found) {
    // What is wrong with a name is said once, of the object that has it.
    if (error.propertyName !== undefined || isUmbrella(error)) continue
    const key = `${GROUPS[error.keyword] ?? error.keyword} ${error.instancePath}`
    const group = groups.get(key)
    if (group !== undefined) group.push(error)
    else if (groups.size < MAX_PROBLEMS) groups.set(key, [error])
  }
  const shownGroups =
    groups.size > 0 ? [...groups.values()] : found.slice(0, MAX_PROBLEMS).map((error) => [error])
  return shownGroups.map((group) => problemOf(group, value))
}

/** Text from elsewhere: on one line, without what terminals obey, not longer than a line. */
export function shown(text: unknown, longest: number = LONGEST_TEXT): string {
  const whole = String(text)
  const cut = whole.length > longest ? `${whole.slice(0, longest - 1)}…` : whole
  return cut.replace(
    UNPRINTABLE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

// --- internal ---

const MAX_PROBLEMS = 5
const LONGEST_TEXT = 200
const LONGEST_NAME = 60

/** Controls, what changes the direction of writing, what cannot be seen, and halves of pairs. */
const UNPRINTABLE =
  /[\p{Cc}\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/gu

/** Whether it only says that something in a branch is wrong, which is then said as well. */
function isUmbrella({ keyword, params }: Found): boolean {
  return keyword === 'anyOf' || keyword === 'if' || (keyword === 'oneOf' && !params['passingSchemas'])
}

/** Keywords whose errors at one place are put together. */
const GROUPS: Readonly<Record<string, string>> = {
  const: 'enum',
  unevaluatedProperties: 'additionalProperties',
  dependencies: 'required',
  dependentRequired: 'required',
}

function problemOf(group: readonly Found[], value: unknown): ArgumentProblem {
  const [first] = group
  const path = first?.instancePath ?? ''
  return { path: shown(path), message: shown(first === undefined ? '' : messageOf(first, group, value)) }
}

function messageOf(
  { keyword, instancePath, params }: Found,
  group: readonly Found[],
  value: unknown,
): string {
  const limit = shown(params['limit'], LONGEST_NAME)
  switch (keyword) {
    case 'type':
      return `must be ${typesOf(group)}, is ${kindOf(valueAt(value, instancePath))}`
    case 'required':
    case 'dependencies':
    case 'dependentRequired':
      return `missing: ${namesOf(group, 'missingProperty')}`
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return `unknown: ${unknownNames(group)}`
    case 'enum':
    case 'const':
      return `must be ${allowedValues(group)}`
    case 'minimum':
    case 'maximum':
    case 'exclusiveMinimum':
    case 'exclusiveMaximum':
      return `must be ${shown(params['comparison'], 2)} ${limit}`
    case 'multipleOf':
      return `must be a multiple of ${shown(params['multipleOf'], LONGEST_NAME)}`
    case 'minLength':
    case 'maxLength':
      return `must have ${keyword === 'minLength' ? 'at least' : 'at most'} ${limit} characters`
    case 'minItems':
    case 'maxItems':
    case 'items':
    case 'unevaluatedItems':
      return `must have ${keyword === 'minItems' ? 'at least' : 'at most'} ${shown(params['limit'] ?? params['len'], LONGEST_NAME)} items`
    case 'minProperties':
    case 'maxProperties':
      return `must have ${keyword === 'minProperties' ? 'at least' : 'at most'} ${limit} members`
    case 'pattern':
      return `must match ${shown(params['pattern'], LONGEST_NAME * 2)}`
    case 'format':
      return `must be in the format ${name(params['format'])}`
    case 'uniqueItems':
      return 'must not have the same item twice'
    case 'contains':
      return 'has not the items that it must contain'
    case 'propertyNames':
      return `has a member with a name that is not allowed: ${namesOf(group, 'propertyName')}`
    case 'oneOf':
      return params['passingSchemas']
        ? 'fits more than one form, must fit one'
        : 'fits none of the allowed forms'
    case 'anyOf':
      return 'fits none of the allowed forms'
    case 'false schema':
      return 'must not be there'
    default:
      return 'is not as the schema wants it'
  }
}

const ARTICLES: Readonly<Record<string, string>> = {
  array: 'a list',
  boolean: 'true or false',
  integer: 'a whole number',
  null: 'null',
  number: 'a number',
  object: 'an object',
  string: 'a string',
}

function typesOf(group: readonly Found[]): string {
  const types = new Set(group.flatMap(({ params }) => params['type'] as string | string[]))
  return [...types].map((type) => ARTICLES[type] ?? name(type)).join(' or ')
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (value === null || typeof value === 'boolean') return String(value)
  return ARTICLES[typeof value] ?? 'something else'
}

function allowedValues(group: readonly Found[]): string {
  const values = group.flatMap(({ params }) => params['allowed'] as readonly unknown[])
  const texts = [...new Set(values.slice(0, 50).map((value) => name(value)))]
  if (values.length === 1) return texts[0] ?? ''
  let text = 'one of: '
  for (const [index, item] of texts.entries()) {
    if (text.length + item.length > LONGEST_TEXT - 40) return `${text}… (${values.length} in all)`
    text += index === 0 ? item : `, ${item}`
  }
  return values.length > 50 ? `${text}, … (${values.length} in all)` : text
}

function unknownNames(group: readonly Found[]): string {
  return group
    .slice(0, MAX_PROBLEMS)
    .map(({ params }) => name(params['additionalProperty'] ?? params['unevaluatedProperty']))
    .join(', ')
}

function namesOf(group: readonly Found[], param: string): string {
  const names = [...new Set(group.map(({ params }) => params[param]))]
  const more = names.length > MAX_PROBLEMS ? ', …' : ''
  return names.slice(0, MAX_PROBLEMS).map(name).join(', ') + more
}

/** Plain words as they are, everything else as JSON. */
function name(value: unknown): string {
  if (typeof value === 'string' && /^[\w$][\w.$:/-]*$/.test(value)) return shown(value, LONGEST_NAME)
  if (typeof value !== 'string') return shown(JSON.stringify(value) ?? value, LONGEST_NAME)
  return shown(JSON.stringify(value.length > LONGEST_NAME ? `${value.slice(0, LONGEST_NAME)}…` : value))
}

function valueAt(value: unknown, path: string): unknown {
  let at = value
  for (const part of path.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
    if (Array.isArray(at)) at = at[Number(key)]
    else if (isRecord(at) && Object.hasOwn(at, key)) at = at[key]
    else return undefined
  }
  return at
}
