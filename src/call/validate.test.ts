import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Checked, Validators } from './validate.ts'

type Schema = Record<string, unknown>

let count = 0
const shared = new Validators()

function validator(schema: Schema) {
  count += 1
  return shared.get(`test-${count}`, schema)
}

async function check(schema: Schema, value: unknown): Promise<Checked> {
  const it = await validator(schema)
  expect(it.flaw).toBeUndefined()
  return it.check(value)
}

/** Problems as `path: message`. */
function lines(checked: Checked): string[] {
  return checked.ok ? [] : checked.problems.map(({ path, message }) => `${path}: ${message}`)
}

const ISSUE = {
  type: 'object',
  properties: {
    title: { type: 'string', minLength: 1, maxLength: 5 },
    state: { type: 'string', enum: ['open', 'closed', 'in review'] },
    labels: { type: 'array', items: { type: 'string' }, maxItems: 2, uniqueItems: true },
    count: { type: 'integer', minimum: 1, exclusiveMaximum: 10 },
    price: { type: 'number', multipleOf: 0.01 },
    when: { type: 'string', format: 'date' },
    kind: { const: 'issue' },
    id: { anyOf: [{ type: 'string' }, { type: 'null' }] },
    code: { type: 'string', pattern: '^[A-Z]{2}$' },
  },
  required: ['title'],
  additionalProperties: false,
}

test.each([
  [{ title: 'a' }, []],
  [{}, [': missing: title']],
  [[], [': must be an object, is a list']],
  [{ title: 5 }, ['/title: must be a string, is a number']],
  [{ title: '' }, ['/title: must have at least 1 characters']],
  [{ title: 'abcdef' }, ['/title: must have at most 5 characters']],
  [{ title: 'a', state: 'x' }, ['/state: must be one of: open, closed, "in review"']],
  [{ title: 'a', kind: 'x' }, ['/kind: must be issue']],
  [{ title: 'a', labels: ['a', 'a'] }, ['/labels: must not have the same item twice']],
  [
    { title: 'a', labels: ['a', 1, 'c'] },
    ['/labels: must have at most 2 items', '/labels/1: must be a string, is a number'],
  ],
  [{ title: 'a', count: '1' }, ['/count: must be a whole number, is a string']],
  [{ title: 'a', count: 1.5 }, ['/count: must be a whole number, is a number']],
  [{ title: 'a', count: 0 }, ['/count: must be >= 1']],
  [{ title: 'a', count: 10 }, ['/count: must be < 10']],
  [{ title: 'a', price: 19.99 }, []],
  [{ title: 'a', price: 19.999 }, ['/price: must be a multiple of 0.01']],
  [{ title: 'a', when: 'today' }, ['/when: must be in the format date']],
  [{ title: 'a', id: null }, []],
  [{ title: 'a', id: 5 }, ['/id: must be a string or null, is a number']],
  [{ title: 'a', code: 'abc' }, ['/code: must match ^[A-Z]{2}$']],
  [{ title: 'a', x: 1, 'b c': 2 }, [': unknown: x, "b c"']],
])('%j: %j', async (value, expected) => {
  const found = lines(await check(ISSUE, value))
  expect(found.toSorted()).toEqual(expected.toSorted())
})

test('five problems are enough', async () => {
  const properties = Object.fromEntries('abcdefgh'.split('').map((key) => [key, { type: 'string' }]))
  const value = Object.fromEntries('abcdefgh'.split('').map((key) => [key, 1]))
  expect(lines(await check({ properties }, value))).toHaveLength(5)
})

test('what may have several forms is said of the value, not of the forms', async () => {
  const one = {
    oneOf: [
      { type: 'number', minimum: 5 },
      { type: 'number', maximum: 10 },
    ],
  }
  expect(lines(await check(one, 7))).toEqual([': fits more than one form, must fit one'])
  const not = { not: { type: 'string' } }
  expect(lines(await check(not, 'a'))).toEqual([': is not as the schema wants it'])
})

test.each([
  ['http://json-schema.org/draft-07/schema#'],
  ['http://json-schema.org/draft-04/schema#'],
  [undefined],
  ['https://json-schema.org/draft/2020-12/schema'],
])('a list of schemas in items is a tuple (%s)', async ($schema) => {
  const schema = {
    ...($schema === undefined ? {} : { $schema }),
    items: [{ type: 'string' }, { type: 'number' }],
    additionalItems: false,
  }
  expect((await check(schema, ['a', 1])).ok).toBe(true)
  expect((await check(schema, [1, 1])).ok).toBe(false)
  expect((await check(schema, ['a', 1, 2])).ok).toBe(false)
})

test('draft 2020-12 is the default, and draft-07 knows nothing of what is newer', async () => {
  const schema = { prefixItems: [{ type: 'string' }], items: false }
  expect((await check(schema, ['a'])).ok).toBe(true)
  expect((await check(schema, [1])).ok).toBe(false)
  const strict = { properties: { a: {} }, unevaluatedProperties: false }
  expect(lines(await check(strict, { a: 1, b: 2 }))).toEqual([': unknown: b'])
  const old = { ...strict, $schema: 'http://json-schema.org/draft-07/schema#' }
  expect((await check(old, { a: 1, b: 2 })).ok).toBe(true)
})

test('old habits do not make a schema useless', async () => {
  const schema = {
    $schema: 'http://json-schema.org/draft-04/schema#',
    id: 'http://example.test/x',
    type: 'object',
    properties: { n: { type: 'number', minimum: 1, exclusiveMinimum: true }, a: { nullable: true } },
  }
  expect((await check(schema, { n: 0 })).ok).toBe(false)
  expect((await check({ type: 'string', nullable: true }, null)).ok).toBe(true)
})

test('nothing is converted, filled in or changed', async () => {
  const schema = { properties: { a: { type: 'number' }, b: { default: 5 } }, additionalProperties: false }
  const value = Object.freeze({ a: '1', c: Object.freeze({}) })
  expect((await check(schema, value)).ok).toBe(false)
  expect(value).toEqual({ a: '1', c: {} })
  const $async = { $async: true, properties: { a: { type: 'number' } } }
  expect((await check($async, { a: 'x' })).ok).toBe(false)
})

test('formats that nobody knows are ignored', async () => {
  expect((await check({ type: 'string', format: 'phone-of-mia' }, 'x')).ok).toBe(true)
})

test('references inside the schema are followed, to themselves as well', async () => {
  const schema = {
    $defs: {
      node: { type: 'object', properties: { next: { $ref: '#/$defs/node' }, n: { type: 'number' } } },
    },
    $ref: '#/$defs/node',
  }
  expect((await check(schema, { next: { next: { n: 1 } } })).ok).toBe(true)
  expect(lines(await check(schema, { next: { next: { n: 'x' } } }))).toEqual([
    '/next/next/n: must be a number, is a string',
  ])
})

test.each([
  [{ $ref: 'http://127.0.0.1:9/schema.json' }],
  [{ properties: { a: { $ref: 'https://example.test/a#/b' } } }],
  [{ $ref: '#/$defs/none' }],
  [{ $ref: '#/__proto__' }],
  [{ $ref: '#/constructor' }],
  [{ $ref: '#' }],
  [{ allOf: [{ $ref: '#' }] }],
  [{ type: 'strng' }],
  [{ minimum: 'five' }],
  [{ required: 'title' }],
  [{ properties: 5 }],
  [{ type: 5 }],
])('%j has a flaw and lets everything through', async (schema) => {
  const it = await validator(schema)
  expect(it.flaw).toMatch(/^the schema /)
  expect(it.check({ a: 1 })).toEqual({ ok: true })
})

test('a pattern takes no time, however it is written', async () => {
  const schema = {
    properties: { a: { pattern: '(a+)+$' } },
    patternProperties: { '^(x+x+)+y$': { type: 'string' } },
  }
  const it = await validator(schema)
  expect(it.flaw).toBeUndefined()
  expect(it.check({ a: `${'a'.repeat(50_000)}!` }).ok).toBe(false)
  expect(it.check({ [`${'x'.repeat(50_000)}`]: 1 }).ok).toBe(true)
  expect(it.check({ xxy: 1 }).ok).toBe(false)
})

test('what RE2 does not know counts as satisfied and is named; the rest is checked', async () => {
  const it = await validator({
    type: 'object',
    properties: { a: { type: 'string', pattern: '^(?!x)' }, b: { type: 'number' } },
    patternProperties: { '(a)\\1': { type: 'number' } },
    additionalProperties: false,
  })
  expect(it.flaw).toContain('"^(?!x)" and 1 more')
  expect(it.check({ a: 'x' }).ok).toBe(true)
  expect(it.check({ a: 5 }).ok).toBe(false)
  expect(it.check({ b: 'x' }).ok).toBe(false)
  expect(it.check({ aa: 'x' }).ok).toBe(true)
})

test.each([
  [{ not: { pattern: '(?=x)' } }],
  [{ oneOf: [{ pattern: '(?=x)' }, { type: 'string' }] }],
  // As text, because an object with a member `then` passes for a promise.
  [JSON.parse('{"if":{"pattern":"(?=x)"},"then":{"maxLength":0},"else":{"minLength":100}}') as Schema],
  [{ not: { $ref: '#/$defs/p' }, $defs: { p: { pattern: '(?=x)' } } }],
])('%j refuses nothing because of a pattern that is not known', async (schema) => {
  const it = await validator(schema)
  expect(it.flaw).toContain('(?=x)')
  expect(it.check('abc').ok).toBe(true)
})

test('a property that is called like a keyword is a property', async () => {
  const schema = {
    properties: { pattern: { type: 'string' }, $ref: { type: 'string' }, items: { type: 'array' } },
  }
  expect((await check(schema, { pattern: '(?=x)', $ref: 'http://x', items: [] })).ok).toBe(true)
  expect((await check(schema, { pattern: 1 })).ok).toBe(false)
})

test.each([
  [
    'properties',
    {
      properties: Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`p${n}`, { type: 'string' }])),
    },
  ],
  ['enum', { enum: Array.from({ length: 100_000 }, (_, n) => `value ${n}`) }],
  ['text', { description: 'x'.repeat(300_000) }],
  ['levels', JSON.parse(`${'{"not":'.repeat(70)}{}${'}'.repeat(70)}`) as Schema],
  ['nodes', { enum: Array.from({ length: 25_000 }, () => 1) }],
])('too many %s: not checked, and that is said', async (_, schema) => {
  const it = await validator(schema)
  expect(it.flaw).toBe('the schema is too large to be checked')
  expect(it.check('anything').ok).toBe(true)
})

test('a long list of allowed values is said as its beginning', async () => {
  const values = Array.from({ length: 10_000 }, (_, n) => `value-${n}`)
  const checked = await check({ enum: values }, 'x')
  expect(lines(checked)[0]).toMatch(/^: must be one of: value-0, .*… \(10000 in all\)$/)
  expect((await check({ enum: values }, 'value-9999')).ok).toBe(true)
})

test('references that multiply come to an end', async () => {
  const $defs: Schema = { last: { type: 'string' } }
  for (let level = 0; level < 40; level++) {
    const next = { $ref: level === 39 ? '#/$defs/last' : `#/$defs/l${level + 1}` }
    $defs[`l${level}`] = { anyOf: [next, next] }
  }
  const it = await validator({ $defs, properties: { a: { $ref: '#/$defs/l0' } } })
  expect(it.flaw).toBeUndefined()
  expect(lines(it.check({ a: 5 }))).toEqual([': is too much to be checked against this schema'])
  expect(it.check({}).ok).toBe(true)
})

test('names from the prototypes of objects are names like others', async () => {
  const schema = JSON.parse(
    '{"properties":{"constructor":{"type":"string"},"__proto__":{"type":"string"},"valueOf":{"enum":[{"valueOf":1}]}},"required":["constructor"]}',
  )
  expect(lines(await check(schema, {}))).toEqual([': missing: constructor'])
  expect((await check(schema, { constructor: 'x' })).ok).toBe(true)
  expect((await check(schema, JSON.parse('{"constructor":"x","__proto__":{"a":1}}'))).ok).toBe(true)
  expect((await check(schema, { constructor: 'x', valueOf: { valueOf: 1 } })).ok).toBe(true)
  expect((await check(schema, { constructor: 'x', valueOf: { valueOf: 2 } })).ok).toBe(false)
  expect(({} as Schema)['a']).toBeUndefined()
})

test('messages and paths have no control characters and do not flood', async () => {
  const odd = `a\u001b[2J\n\u202e${'x'.repeat(5000)}`
  const schema = { additionalProperties: { enum: [odd] }, propertyNames: { maxLength: 3 }, required: [odd] }
  const found = await check(schema, { [`b\u0007${'y'.repeat(5000)}`]: odd.repeat(2) })
  const text = lines(found).join('')
  expect(found.ok).toBe(false)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what this is about.
  expect(text).not.toMatch(/[\u0000-\u001f\u202e]/)
  for (const line of lines(found)) expect(line.length).toBeLessThan(1000)
})

test('never throws, whatever the schema and the value', async () => {
  const keyword = fc.constantFrom(
    ...[
      'type',
      'properties',
      'items',
      'required',
      'enum',
      'const',
      'pattern',
      '$ref',
      'anyOf',
      'not',
      'if',
      'format',
    ],
    ...[
      '$id',
      'additionalProperties',
      'minimum',
      'dependencies',
      'uniqueItems',
      '$defs',
      'contains',
      '__proto__',
    ],
  )
  const part = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.constantFrom('string', 'object', ['a'], '#', '#/$defs/a', {}),
  )
  const schemas = fc.dictionary(keyword, fc.oneof(part, fc.dictionary(keyword, part)), { maxKeys: 4 })
  await fc.assert(
    fc.asyncProperty(schemas, fc.jsonValue(), async (schema, value) => {
      const it = await validator(schema)
      expect(typeof it.check(value).ok).toBe('boolean')
    }),
    { numRuns: 150 },
  )
})

test('a schema is compiled once, at once for all who ask', async () => {
  const validators = new Validators()
  expect(validators.compiled('a')).toBeUndefined()
  const [one, other] = await Promise.all([validators.get('a', ISSUE), validators.get('a', ISSUE)])
  expect(one).toBe(other)
  expect(validators.compiled('a')).toBe(one)
  expect(await validators.get('a', {})).toBe(one)
})

test('the validator that was not used for longest goes when there are too many', async () => {
  const validators = new Validators(3)
  for (const name of ['a', 'b', 'c']) await validators.get(name, { const: name })
  validators.compiled('a')
  await validators.get('d', { const: 'd' })
  expect(validators.size).toBe(3)
  expect(['a', 'b', 'c', 'd'].filter((name) => validators.compiled(name) !== undefined)).toEqual([
    'a',
    'c',
    'd',
  ])
})
