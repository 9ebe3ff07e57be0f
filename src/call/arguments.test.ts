import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalArguments } from '../policy/canonical-arguments.ts'
import { jsonText, mutated, mutation, objectJson, space } from '../wire/testing.ts'
import { argumentsProblem } from './arguments.ts'

function problem(text: string): string | undefined {
  return argumentsProblem(Buffer.from(text))
}

function canonical(text: string): string {
  return canonicalArguments(Buffer.from(text))
}

const objects = fc.dictionary(fc.string({ unit: 'binary', maxLength: 6 }), fc.jsonValue({ maxDepth: 3 }), {
  maxKeys: 40,
})

test('finds nothing wrong with what JSON.stringify writes of an object', () => {
  fc.assert(
    fc.property(objects, fc.constantFrom(undefined, 2, '\t'), (value, indent) => {
      expect(problem(JSON.stringify(value, null, indent))).toBeUndefined()
    }),
  )
})

test.each([
  ['', 'the arguments are not one JSON object'],
  ['[]', 'the arguments are not one JSON object'],
  ['null', 'the arguments are not one JSON object'],
  ['{}{}', 'the arguments are not one JSON object'],
  ['{"a":1,}', 'the arguments are not one JSON object'],
  ['{"a":[1,]}', 'the arguments are not one JSON object'],
  ['{"a":01}', 'the arguments are not one JSON object'],
  ['\ufeff{}', 'the arguments are not one JSON object'],
  ['{"a":1,"a":2}', 'the arguments have a key twice: /a'],
  ['{"id":1,"\\u0069d":2}', 'the arguments have a key twice: /id'],
  ['{"\\u0069d":1,"id":2}', 'the arguments have a key twice: /id'],
  ['{"é":1,"\\u00e9":2}', 'the arguments have a key twice: /é'],
  ['{"":1,"":2}', 'the arguments have a key twice: /'],
  ['{"__proto__":1,"__proto__":2}', 'the arguments have a key twice: /__proto__'],
  ['{"a":[0,{"b/c":{"d":1,"e":{},"d":2}}]}', 'the arguments have a key twice: /a/1/b~1c/d'],
  ['{"a":{"x":1},"b":{"x":1},"b":3}', 'the arguments have a key twice: /b'],
  ['{"a\\u001b[2J":1,"a\\u001b[2J":1}', 'the arguments have a key twice: /a\ufffd[2J'],
])('%s: %s', (text, expected) => {
  expect(problem(text)).toBe(expected)
})

test('the same key in other objects is nothing special', () => {
  expect(problem('{"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}],"c":{"a":1,"b":2}}')).toBeUndefined()
})

test('bytes that are no text are refused, because each reader makes something else of them', () => {
  const bytes = Buffer.concat([
    Buffer.from('{"'),
    Buffer.from([0xff]),
    Buffer.from('":1,"'),
    Buffer.from([0xfe]),
    Buffer.from('":2}'),
  ])
  expect(argumentsProblem(bytes)).toBe('the arguments are no valid UTF-8')
})

test('128 levels are the limit, in objects and in lists', () => {
  const nested = (levels: number) => '{"a":'.repeat(levels) + 1 + '}'.repeat(levels)
  const listed = (levels: number) => `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`
  for (const text of [nested(128), listed(128)]) expect(problem(text)).toBeUndefined()
  for (const text of [nested(129), listed(129), listed(1_000_000)])
    expect(problem(text)).toBe('the arguments are nested more than 128 levels deep')
})

test('many keys are no more trouble than few', () => {
  const members = Array.from({ length: 100_000 }, (_, index) => `"k${index}":1`)
  expect(problem(`{${members.join(',')}}`)).toBeUndefined()
  expect(problem(`{${members.join(',')},"k77":2}`)).toBe('the arguments have a key twice: /k77')
})

test('a path is cut before it becomes a flood', () => {
  const key = 'k'.repeat(10_000)
  expect(problem(`{"${key}":1,"${key}":1}`)?.length).toBeLessThan(300)
})

/** Whether some object in it has a key twice, by reading it the slow way. */
function hasTwice(text: string): boolean {
  const found = /^\s*[{[]/.test(text) && items(text).some(([, value]) => hasTwice(value))
  const keys = items(text).map(([key]) => key)
  return found || (text.trimStart().startsWith('{') && new Set(keys).size < keys.length)
}

/** The members of an object or list as texts, cut at its commas. */
function items(text: string): [string, string][] {
  const inner = text.trim().slice(1, -1)
  if (!/^\s*[{[]/.test(text) || inner.trim() === '') return []
  const parts: string[] = []
  let depth = 0
  let last = 0
  for (const { 0: token, index } of inner.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],]/gs)) {
    if ('{['.includes(token)) depth += 1
    else if ('}]'.includes(token)) depth -= 1
    else if (token === ',' && depth === 0) {
      parts.push(inner.slice(last, index))
      last = index + 1
    }
  }
  parts.push(inner.slice(last))
  if (text.trimStart().startsWith('[')) return parts.map((part, index) => [String(index), part.trim()])
  return parts.map((part) => {
    const [key = ''] = /^\s*"(?:[^"\\]|\\.)*"/s.exec(part) ?? []
    return [JSON.parse(key), part.slice(key.length).replace(/^\s*:/, '').trim()]
  })
}

test('agrees with a slow reader on which objects have a key twice', () => {
  fc.assert(
    fc.property(objectJson, (text) => {
      const found = problem(text)
      expect(found?.startsWith('the arguments have a key twice: /') ?? false, text).toBe(hasTwice(text))
      if (!hasTwice(text)) expect(found).toBeUndefined()
    }),
    { numRuns: 1000 },
  )
})

test('agrees with JSON.parse on what is broken', () => {
  fc.assert(
    fc.property(objectJson, fc.array(mutation, { minLength: 1, maxLength: 3 }), (text, mutations) => {
      const broken = Buffer.from(mutations.reduce(mutated, text)).toString()
      const found = problem(broken)
      if (found?.includes('twice')) return
      let value: unknown
      try {
        value = JSON.parse(broken)
      } catch {
        value = undefined
      }
      const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
      expect(found === undefined, broken).toBe(isObject)
    }),
    { numRuns: 1500 },
  )
})

test('finds a duplicate on whichever level it is put', () => {
  const step = fc.oneof(fc.string({ maxLength: 4 }), fc.nat(3))
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), objects, fc.boolean(), (steps, others, escaped) => {
      const rest = JSON.stringify({ ...others, id: 0 }).slice(1)
      let text = `{"${escaped ? '\\u0069' : 'i'}d":1,${rest}`
      for (const at of steps.toReversed())
        text = typeof at === 'number' ? `[${'0,'.repeat(at)}${text}]` : `{${JSON.stringify(at)}:${text}}`
      expect(problem(`{"":${text}}`)).toMatch(/^the arguments have a key twice: \//)
    }),
  )
})

test('what is no JSON object throws instead of giving a text', () => {
  fc.assert(
    fc.property(fc.oneof(jsonText, objectJson), mutation, space, (text, change, after) => {
      const broken = Buffer.from(mutated(text, change) + after).toString()
      if (problem(broken) === undefined) expect(() => canonical(broken)).not.toThrow()
      else if (!isJson(broken)) expect(() => canonical(broken), broken).toThrow('not one JSON object')
    }),
    { numRuns: 1000 },
  )
})

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
