// What each provider takes, written down apart from the code that writes it: the judge of its tests.

import { Ajv } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect } from 'vitest'
import { isRecord } from '../../base/record.ts'
import { projectTool, type ToolFormat } from './project.ts'

/** Everything a provider would refuse in a tool. */
export function refusals(format: ToolFormat, tool: Record<string, unknown>): string[] {
  if (!isUtf8(JSON.stringify(tool))) return ['is no UTF-8']
  switch (format) {
    case 'anthropic':
      return [
        ...members(tool, ['name', 'input_schema']),
        ...named(tool),
        ...anthropicSchema(tool['input_schema']),
      ]
    case 'ai-sdk':
      return [
        ...members(tool, ['name', 'inputSchema']),
        ...named(tool),
        ...anthropicSchema(tool['inputSchema']),
      ]
    case 'openai': {
      const inner = tool['function']
      if (tool['type'] !== 'function' || !isRecord(inner)) return ['no function']
      return [...members(inner, ['name', 'parameters']), ...named(inner), ...jsonSchema(inner['parameters'])]
    }
    case 'gemini': {
      const parameters = tool['parameters']
      const letter = /^[A-Za-z_]/.test(String(tool['name'])) ? [] : ['name begins with no letter']
      const described = typeof tool['description'] === 'string' ? [] : ['no description']
      const head = [...members(tool, ['name', 'description']), ...named(tool), ...letter, ...described]
      if (parameters === undefined) return head
      const top = isRecord(parameters) && parameters['type'] === 'OBJECT' ? [] : ['top: no object']
      const filled = isRecord(parameters) && isRecord(parameters['properties']) ? [] : ['top: no properties']
      return [...head, ...top, ...filled, ...geminiSchema(parameters, 'top')]
    }
  }
}

/** Checks what an argument with this schema becomes as JSON Schema and for Gemini. */
export function expectArgument(schema: unknown, expected: object, gemini: object): void {
  const tool = { name: 'tool', inputSchema: { type: 'object', properties: { a: schema }, required: ['a'] } }
  const before = JSON.stringify(tool)
  const parameters = { type: 'object', properties: { a: expected }, required: ['a'] }
  const declared = { type: 'OBJECT', properties: { a: gemini }, required: ['a'] }
  const wanted: Record<ToolFormat, object> = {
    anthropic: { name: 'tool', input_schema: parameters },
    'ai-sdk': { name: 'tool', inputSchema: parameters },
    openai: { type: 'function', function: { name: 'tool', parameters } },
    gemini: { name: 'tool', description: 'tool', parameters: declared },
  }
  for (const format of ['anthropic', 'ai-sdk', 'openai', 'gemini'] as const) {
    const projected = projectTool(format, tool)
    expect(projected).toEqual({ ok: true, tool: wanted[format] })
    expect(projected.ok && refusals(format, projected.tool)).toEqual([])
  }
  expect(JSON.stringify(tool)).toBe(before)
}

/** What Gemini is told of a value of which nothing is known. */
export function anything(description?: string): object {
  const others = [{ type: 'NUMBER' }, { type: 'BOOLEAN' }, { type: 'OBJECT' }]
  const text = { type: 'STRING' }
  const list = { type: 'ARRAY', items: { anyOf: [text, ...others] } }
  return { anyOf: [description === undefined ? text : { ...text, description }, ...others, list] }
}

// --- internal ---

function members(tool: Record<string, unknown>, wanted: readonly string[]): string[] {
  const known = new Set(['name', 'description', 'parameters', 'input_schema', 'inputSchema'])
  const missing = wanted.filter((key) => !Object.hasOwn(tool, key)).map((key) => `no ${key}`)
  return [...missing, ...Object.keys(tool).filter((key) => !known.has(key))]
}

function named({ name }: Record<string, unknown>): string[] {
  return typeof name === 'string' && /^[A-Za-z0-9_-]{1,64}$/.test(name) ? [] : [`bad name ${name}`]
}

function isUtf8(text: string): boolean {
  return Buffer.from(text).toString() === text && !/\\ud[89a-f]/i.test(text)
}

function anthropicSchema(schema: unknown): string[] {
  const properties =
    isRecord(schema) && isRecord(schema['properties']) ? Object.keys(schema['properties']) : []
  const bad = properties.filter((key) => !/^[a-zA-Z0-9_.-]{1,64}$/.test(key))
  return [...bad.map((key) => `bad key ${key}`), ...jsonSchema(schema)]
}

const CHECKERS = [Ajv2020, Ajv].map((Checker) => new Checker({ strict: false, logger: false }))

function jsonSchema(schema: unknown): string[] {
  if (!isRecord(schema)) return ['no schema']
  const found: string[] = []
  if (schema['type'] !== 'object') found.push('top: no object')
  if (!isRecord(schema['properties'])) found.push('top: no properties')
  for (const key of ['anyOf', 'oneOf', 'allOf', 'not', 'enum', 'const', '$ref'])
    if (Object.hasOwn(schema, key)) found.push(`top: ${key}`)
  // Both checkers hold it against the rules of their draft as well.
  for (const checker of CHECKERS)
    try {
      checker.compile(schema)
    } catch (error) {
      found.push(String(error))
    }
  return [...found, ...jsonNode(schema, 'top')]
}

const JSON_KEYWORDS = new Set([
  ...[
    'type',
    'title',
    'description',
    'enum',
    'properties',
    'required',
    'additionalProperties',
    'items',
    'anyOf',
  ],
  ...[
    'minLength',
    'maxLength',
    'minItems',
    'maxItems',
    'minProperties',
    'maxProperties',
    'minimum',
    'maximum',
  ],
  ...[
    'exclusiveMinimum',
    'exclusiveMaximum',
    'multipleOf',
    'uniqueItems',
    'format',
    'pattern',
    'default',
    'examples',
  ],
])

function jsonNode(schema: unknown, at: string): string[] {
  if (!isRecord(schema)) return [`${at}: no object`]
  const { type, items, anyOf, properties, additionalProperties: more, enum: values } = schema
  const types = Array.isArray(type) ? type : [type]
  const found = Object.keys(schema)
    .filter((key) => !JSON_KEYWORDS.has(key))
    .map((key) => `${at}: ${key}`)
  if (types.includes('array') && items === undefined) found.push(`${at}: array schema missing items`)
  if (types.includes('object') && properties === undefined) found.push(`${at}: object without properties`)
  const beside = Array.isArray(values)
    ? values.filter((value) => !types.some((name) => isOfType(value, name)))
    : []
  if (type !== undefined && beside.length > 0) found.push(`${at}: values beside the type`)
  if (isRecord(properties))
    for (const [name, property] of Object.entries(properties))
      found.push(...jsonNode(property, `${at}.${name}`))
  if (items !== undefined) found.push(...jsonNode(items, `${at}[]`))
  if (more !== undefined && more !== false) found.push(...jsonNode(more, `${at}{}`))
  if (Array.isArray(anyOf)) found.push(...anyOf.flatMap((branch) => jsonNode(branch, `${at}|`)))
  return found
}

function isOfType(value: unknown, type: unknown): boolean {
  if (value === null) return type === 'null'
  if (Array.isArray(value)) return type === 'array'
  if (typeof value === 'number') return type === 'number' || (type === 'integer' && Number.isInteger(value))
  return type === typeof value
}

const GEMINI_KEYWORDS: Record<string, readonly string[]> = {
  STRING: ['enum', 'format', 'minLength', 'maxLength', 'pattern'],
  NUMBER: ['format', 'minimum', 'maximum'],
  INTEGER: ['format', 'minimum', 'maximum'],
  BOOLEAN: [],
  ARRAY: ['items', 'minItems', 'maxItems'],
  OBJECT: ['properties', 'required', 'minProperties', 'maxProperties'],
}
const GEMINI_FORMATS: Record<string, readonly unknown[]> = {
  STRING: ['enum', 'date-time'],
  NUMBER: ['float', 'double'],
  INTEGER: ['int32', 'int64'],
}

function geminiSchema(schema: unknown, at: string): string[] {
  if (!isRecord(schema)) return [`${at}: no object`]
  const { type, anyOf, items, properties, required, format, enum: values } = schema
  if (anyOf !== undefined) {
    if (!Array.isArray(anyOf) || anyOf.length === 0) return [`${at}: empty anyOf`]
    const beside = Object.keys(schema).length > 1 ? [`${at}: fields beside anyOf`] : []
    return [...beside, ...anyOf.flatMap((branch) => geminiSchema(branch, `${at}|`))]
  }
  const known = GEMINI_KEYWORDS[String(type)]
  if (known === undefined) return [`${at}: type ${type}`]
  const allowed = new Set(['type', 'description', 'nullable', ...known])
  const found = Object.keys(schema)
    .filter((key) => !allowed.has(key))
    .map((key) => `${at}: ${key}`)
  if (format !== undefined && !GEMINI_FORMATS[String(type)]?.includes(format))
    found.push(`${at}: format ${format}`)
  const texts =
    Array.isArray(values) && values.length > 0 && values.every((value) => value && typeof value === 'string')
  if (values !== undefined && !texts) found.push(`${at}: enum of other than texts`)
  if (type === 'ARRAY')
    found.push(...(items === undefined ? [`${at}: no items`] : geminiSchema(items, `${at}[]`)))
  if (properties !== undefined && (!isRecord(properties) || Object.keys(properties).length === 0))
    found.push(`${at}: empty properties`)
  const names = isRecord(properties) ? Object.keys(properties) : []
  if (Array.isArray(required) && required.some((name) => !names.includes(name)))
    found.push(`${at}: unknown required`)
  if (isRecord(properties))
    for (const [name, property] of Object.entries(properties))
      found.push(...geminiSchema(property, `${at}.${name}`))
  return found
}
