import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MAX_DEPTH, type Member, scanHead, scanObject } from './scan.ts'
import { jsonText, mutated, mutation, objectJson, space } from './testing.ts'

function scan(text: string) {
  return scanObject(Buffer.from(text))
}

/** What JSON.parse makes of it; undefined when it refuses or when it is no object. */
function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

function valueAt(text: string, { start, end }: Member): unknown {
  return JSON.parse(Buffer.from(text).toString('utf8', start, end))
}

/** As JSON.parse does it: the last of two counts. */
function built(text: string, members: readonly Member[]): Record<string, unknown> {
  const target: Record<string, unknown> = {}
  for (const member of members) {
    const value = valueAt(text, member)
    Object.defineProperty(target, member.key, { value, enumerable: true, configurable: true, writable: true })
  }
  return target
}

function expectAgreement(text: string): void {
  const expected = parsed(text)
  const result = scan(text)
  expect(result.ok, text).toBe(expected !== undefined)
  if (result.ok) expect(built(text, result.members)).toEqual(expected)
}

test('accepts every object that JSON.parse accepts, and finds the same members', () => {
  fc.assert(
    fc.property(objectJson, space, space, (text, before, after) => {
      expectAgreement(before + text + after)
    }),
    { numRuns: 1500 },
  )
})

test('accepts no value but an object', () => {
  fc.assert(
    fc.property(fc.oneof(jsonText, fc.json()), (text) => expectAgreement(text)),
    { numRuns: 500 },
  )
})

test('agrees with JSON.parse on what JSON.stringify writes, whatever the keys', () => {
  const objects = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 5 })
  fc.assert(
    fc.property(objects, fc.constantFrom(undefined, 2, '\t'), (value, indent) => {
      expectAgreement(JSON.stringify(value, null, indent))
    }),
    { numRuns: 100 },
  )
})

test('agrees with JSON.parse on what is broken', () => {
  fc.assert(
    fc.property(objectJson, fc.array(mutation, { minLength: 1, maxLength: 3 }), (text, mutations) => {
      // What a lone half of a pair becomes in UTF-8 is what both sides read.
      expectAgreement(Buffer.from(mutations.reduce(mutated, text)).toString())
    }),
    { numRuns: 3000 },
  )
})

test('tells where each member stands, with those that come twice, in their order', () => {
  const text = ' { "a" : 1.0 ,"b":{"a":[1,{"b":2}]}, "a":"x" , "c":[ ] } '
  const result = scan(text)
  const members = result.ok ? result.members : []
  expect(members.map((member) => [member.key, text.slice(member.start, member.end)])).toEqual([
    ['a', '1.0'],
    ['b', '{"a":[1,{"b":2}]}'],
    ['a', '"x"'],
    ['c', '[ ]'],
  ])
})

const keys: [string, string][] = [
  ['an escape', '"\\u0069d"'],
  ['capital hex digits', '"\\u00E9"'],
  ['a pair of escapes', '"\\ud83d\\ude00"'],
  ['half a pair', '"\\ud83d"'],
  ['every short escape', '"\\"\\\\\\/\\b\\f\\n\\r\\t"'],
  ['characters of several bytes', '"é漢😀"'],
  ['a byte order mark', '"\ufeffid"'],
  ['more than a few bytes', `"${'k'.repeat(40)}\\u0041"`],
  ['nothing', '""'],
  ['the name of a prototype', '"__proto__"'],
]
for (const [title, key] of keys)
  test(`takes a key with ${title} for what it means`, () => {
    const result = scan(`{${key}:1}`)
    expect(result.ok && result.members.map((member) => member.key)).toEqual([JSON.parse(key)])
    expect(scanHead(Buffer.from(`{${key}:1}`)).map((member) => member.key)).toEqual([JSON.parse(key)])
  })

const broken = [
  ...[
    '',
    ' ',
    '{',
    '}',
    '{}}',
    '{} x',
    '[]',
    '1',
    '"a"',
    'null',
    '{,}',
    '{"a"}',
    '{"a":}',
    '{"a" 1}',
    '{a:1}',
  ],
  ...['{"a":1,}', '{"a":1,,"b":2}', '{"a":1 "b":2}', '{"a":[1,]}', '{"a":[,1]}', '{"a":[1 2]}', '{"a":[}'],
  ...[
    '{"a":01}',
    '{"a":-}',
    '{"a":+1}',
    '{"a":.5}',
    '{"a":5.}',
    '{"a":1e}',
    '{"a":1e+}',
    '{"a":-01}',
    '{"a":1.e5}',
  ],
  ...['{"a":0x1}', '{"a":NaN}', '{"a":Infinity}', '{"a":tru}', '{"a":True}', '{"a":nul}', '{"a":truee}'],
  ...['{"a":"\\x"}', '{"a":"\\u12"}', '{"a":"\\u12g4"}', '{"a":"\\"}', '{"a":"b}', "{'a':1}", '{"a":"\n"}'],
  ...[
    '{"a":"\0"}',
    '{"a":"\u001f"}',
    '{"a\t":1}',
    '\ufeff{}',
    '{}\0',
    '\0{}',
    '\u00a0{}',
    '{\v}',
    '{"a":1/**/}',
    '{}{}',
  ],
]
for (const text of broken)
  test(`refuses ${JSON.stringify(text)}`, () => {
    expect(parsed(text)).toBeUndefined()
    expect(scan(text)).toEqual({ ok: false, reason: 'syntax' })
  })

test('goes 128 levels deep and not one further', () => {
  const nested = (levels: number, open: string, inner: string, close: string) =>
    open.repeat(levels) + inner + close.repeat(levels)
  expect(MAX_DEPTH).toBe(128)
  expect(scan(`{"a":${nested(127, '[', '', ']')}}`).ok).toBe(true)
  expect(scan(`{"a":${nested(128, '[', '', ']')}}`)).toEqual({ ok: false, reason: 'depth' })
  expect(scan(nested(128, '{"a":', '1', '}')).ok).toBe(true)
  expect(scan(nested(128, '{"a":', '{}', '}'))).toEqual({ ok: false, reason: 'depth' })
  // Far deeper than the stack: refused before anything is tried.
  expect(scan(`{"a":${'['.repeat(1_000_000)}`)).toEqual({ ok: false, reason: 'depth' })
})

test('the head of an object has its members up to the first nested one, wherever it was cut', () => {
  fc.assert(
    fc.property(objectJson, fc.double({ min: 0, max: 1, noNaN: true }), (text, at) => {
      const bytes = Buffer.from(text)
      const cut = bytes.subarray(0, Math.floor(at * (bytes.length + 1)))
      const whole = scanObject(bytes)
      const all = whole.ok ? whole.members : []
      const isNested = ({ start }: Member) => bytes[start] === 0x7b || bytes[start] === 0x5b
      const first = all.findIndex(isNested)
      const flat = first < 0 ? all : all.slice(0, first + 1)
      const expected = flat
        .filter((member) => (isNested(member) ? member.start < cut.length : member.end < cut.length))
        .map((member) => (isNested(member) ? { ...member, end: -1 } : member))
      expect(scanHead(cut)).toEqual(expected)
    }),
    { numRuns: 1000 },
  )
})

test('the head of what is no object is empty', () => {
  for (const text of [
    '',
    ' ',
    '[1]',
    '{',
    '{"a',
    '{"a"',
    '{"a":',
    '{"a" 1',
    '{1:2}',
    '{"a":12',
    '{"a":"b',
    '{"a":tru',
  ])
    expect(scanHead(Buffer.from(text)), text).toEqual([])
})
