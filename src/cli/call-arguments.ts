// A tool's arguments from the words of a command line. Pure: files and stdin are handed in.

import { Fault } from '../base/fault.ts'
import { isRecord } from '../base/record.ts'
import { nearest } from '../base/suggest.ts'
import { scanObject } from '../wire/scan.ts'
import { type Schema, typesOf } from './schema-types.ts'

export interface Sources {
  readonly file: (path: string) => string
  readonly input: () => Promise<string>
}

/** Arguments as data to look at, and as the text that is sent: 12345678901234567891 keeps its digits. */
export interface Arguments {
  readonly values: Readonly<Record<string, unknown>>
  readonly text: string
}

/** `key=value…`, one JSON object, or `-` for JSON on stdin. */
export async function readArguments(
  words: readonly string[],
  schema: Schema,
  sources: Sources,
): Promise<Arguments> {
  const [first = '', ...rest] = words
  const whole = first === '-' || first.trimStart().startsWith('{')
  if (!whole) return pairs(words, schema, sources)
  if (rest[0] !== undefined)
    throw usage(`"${rest[0]}" cannot follow ${first === '-' ? '-' : 'a JSON object'}`, {
      hint: 'give all arguments in one way: key=value, JSON, or - for stdin',
    })
  if (first !== '-') return object(first, 'the arguments')
  const text = await sources.input()
  if (text.trim() === '')
    throw usage('nothing came on stdin', {
      hint: `pipe a JSON object in, or leave - out: echo '{}' | busbar call …`,
    })
  return object(text, 'stdin')
}

export interface Complaints {
  readonly errors: readonly string[]
  readonly warnings: readonly string[]
}

/** What can be said against arguments before anything is sent. */
export function checkArguments(given: Readonly<Record<string, unknown>>, schema: Schema): Complaints {
  const known = propertiesOf(schema)
  const names = Object.keys(known)
  const required = Array.isArray(schema['required']) ? schema['required'].filter(isText) : []
  const missing = required.filter((name) => !Object.hasOwn(given, name))
  const unknown = Object.keys(given).filter((name) => !Object.hasOwn(known, name))
  const closed = schema['additionalProperties'] === false && schema['patternProperties'] === undefined
  const said = unknown.flatMap((name) => {
    const near = nearest(name, names)
    if (!closed && near === undefined) return []
    const instead = near
      ? `; did you mean "${near}"?`
      : names.length > 0
        ? `; there are: ${names.join(', ')}`
        : ''
    return [`there is no argument "${name}"${instead}`]
  })
  const lacking = missing.map((name) => `"${name}" is missing: ${describeArgument(known[name])}`)
  return closed ? { errors: [...said, ...lacking], warnings: [] } : { errors: lacking, warnings: said }
}

// --- internal ---

/** A value and how it is written in JSON. */
interface Written {
  readonly value: unknown
  readonly text: string
}

function written(value: unknown): Written {
  return { value, text: JSON.stringify(value) }
}

function pairs(words: readonly string[], schema: Schema, sources: Sources): Arguments {
  const known = propertiesOf(schema)
  const given = new Map<string, Written>()
  for (const word of words) {
    const [, key, forced, text = ''] = /^([^=]+?)(:?)=([\s\S]*)$/.exec(word) ?? []
    if (key === undefined)
      throw usage(`"${word}" is no argument`, { hint: 'write key=value, key:=JSON, one JSON object, or -' })
    if (given.has(key)) throw usage(`"${key}" is given twice`)
    const value = text.startsWith('@') ? sources.file(text.slice(1)) : text
    given.set(key, forced === ':' ? json(value, key) : typed(value, key, known[key], schema))
  }
  return {
    values: Object.fromEntries([...given].map(([key, { value }]) => [key, value])),
    text: `{${[...given].map(([key, { text }]) => `${JSON.stringify(key)}:${text}`).join(',')}}`,
  }
}

function typed(text: string, key: string, property: unknown, schema: Schema): Written {
  const types = typesOf(property, schema)
  if (types.size === 0 || types.has('string')) return written(text)
  const word = text.trim()
  if ((types.has('number') || types.has('integer')) && NUMBER.test(word)) {
    const number = json(word, key)
    if (types.has('number') || Number.isInteger(number.value)) return number
  }
  if (types.has('boolean') && /^(?:true|false)$/.test(word)) return written(word === 'true')
  if (types.has('null') && word === 'null') return written(null)
  if ((types.has('array') && word.startsWith('[')) || (types.has('object') && word.startsWith('{')))
    return json(word, key)
  const wanted = [...types].filter((type) => type !== 'null').join(' or ')
  throw usage(`${key} is "${shorten(text)}"; expected ${wanted}`, {
    hint:
      types.has('array') || types.has('object')
        ? `write it as JSON: ${key}='${types.has('array') ? '["a","b"]' : '{"a":1}'}'`
        : `${describeArgument(property)}; to send it anyway: ${key}:=JSON`,
  })
}

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

function object(text: string, what: string): Arguments {
  const { value } = json(text, what)
  if (!isRecord(value)) throw usage(`${what} must be a JSON object`)
  const scan = scanObject(Buffer.from(text))
  const keys = scan.ok ? scan.members.map(({ key }) => key) : []
  const twice = keys.find((key, index) => keys.indexOf(key) !== index)
  if (twice !== undefined) throw usage(`"${twice}" is given twice`)
  return { values: value, text }
}

function json(text: string, what: string): Written {
  try {
    return { value: JSON.parse(text), text }
  } catch (error) {
    throw usage(`${what}: not JSON: ${error instanceof Error ? error.message : error}`, {
      hint: `quote it for your shell: '{"key": "value"}'`,
    })
  }
}

function propertiesOf(schema: Schema): Readonly<Record<string, unknown>> {
  const properties = schema['properties']
  return isRecord(properties) ? properties : {}
}

/** `number, the first one to add`: what a schema says of an argument. */
function describeArgument(property: unknown): string {
  const types = [...typesOf(property, {})].join(' or ')
  const said = isRecord(property) && isText(property['description']) ? shorten(property['description']) : ''
  const options = isRecord(property) && Array.isArray(property['enum']) ? property['enum'].slice(0, 12) : []
  const oneOf = options.length > 0 ? `one of ${options.map((it) => JSON.stringify(it)).join(', ')}` : ''
  return [types, oneOf, said].filter((part) => part !== '').join(', ') || 'anything'
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > 120 ? `${line.slice(0, 119)}…` : line
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function usage(message: string, options: { hint?: string } = {}): Fault {
  return new Fault('USAGE', message, options)
}
