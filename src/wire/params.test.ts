import fc from 'fast-check'
import { expect, test } from 'vitest'
import { META, MODERN_VERSION } from './era.ts'
import { modernMeta, param, paramsText, type RawParams, readParams, withMeta } from './params.ts'
import { mutated, mutation, objectJson } from './testing.ts'

function read(text: string): RawParams {
  const params = readParams(Buffer.from(text))
  if (typeof params === 'string') throw new Error(params)
  return params
}

test('a modern request says who asks, in which version, and what may be asked back', () => {
  expect(modernMeta({ name: 'busbar', version: '1' }, { roots: {} })).toEqual({
    'io.modelcontextprotocol/protocolVersion': MODERN_VERSION,
    'io.modelcontextprotocol/clientInfo': { name: 'busbar', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': { roots: {} },
  })
})

test('puts entries into _meta, over what stands there', () => {
  const params = { a: 1, _meta: { progressToken: 3, [META.version]: 'old' } }
  expect(JSON.parse(paramsText(params, { [META.version]: 'new' }) ?? '')).toEqual({
    a: 1,
    _meta: { progressToken: 3, [META.version]: 'new' },
  })
  expect(paramsText(undefined, { x: 1 })).toBe('{"_meta":{"x":1}}')
  expect(paramsText({ a: 1 }, undefined)).toBe('{"a":1}')
  expect(paramsText(undefined, undefined)).toBeUndefined()
})

const refused: [string, string][] = [
  ['[]', 'params must be an object'],
  ['null', 'params must be an object'],
  ['{"a":1', 'params must be an object'],
  ['{"name":"a","name":"b"}', 'params has a key twice'],
  ['{"name":"a","n\\u0061me":"b"}', 'params has a key twice'],
  ['{"_meta":[]}', 'params._meta must be an object'],
  ['{"_meta":null}', 'params._meta must be an object'],
  ['{"_meta":"x"}', 'params._meta must be an object'],
]
for (const [text, reason] of refused)
  test(`refuses ${text}`, () => {
    expect(readParams(Buffer.from(text))).toBe(reason)
  })

test('no parameters are empty ones', () => {
  const params = readParams(undefined)
  if (typeof params === 'string') throw new Error(params)
  expect(params.meta).toBeUndefined()
  expect(param(params, 'name')).toBeUndefined()
  expect(withMeta(params, undefined)).toBe('{}')
  expect(withMeta(params, { a: 1 })).toBe('{"_meta":{"a":1}}')
})

test('[C9] another _meta leaves every other byte as it was', () => {
  const params = read('{ "name":"a", "_meta":{"x":1} ,"arguments": {"n": 1.0, "big":12345678901234567891} }')
  const kept = '{"name":"a","arguments":{"n": 1.0, "big":12345678901234567891}'
  expect(params.meta).toEqual({ x: 1 })
  expect(withMeta(params, undefined)).toBe(`${kept}}`)
  expect(withMeta(params, { y: 2 })).toBe(`${kept},"_meta":{"y":2}}`)
  expect(param(params, 'arguments')).toEqual({ n: 1, big: Number('12345678901234567891') })
  expect(param(params, 'toString')).toBeUndefined()
})

test('parameters mean the same with another _meta, whatever they are', () => {
  fc.assert(
    fc.property(
      objectJson,
      fc.option(mutation),
      fc.option(fc.dictionary(fc.string(), fc.integer())),
      (text, change, meta) => {
        const bytes = Buffer.from(change === null ? text : mutated(text, change))
        const params = readParams(bytes)
        if (typeof params === 'string') return
        const { _meta: _, ...rest } = JSON.parse(bytes.toString())
        const expected = meta === null ? rest : { ...rest, _meta: meta }
        expect(JSON.parse(withMeta(params, meta ?? undefined))).toEqual(expected)
        for (const key of Object.keys(rest)) expect(param(params, key)).toEqual(rest[key])
      },
    ),
    { numRuns: 500 },
  )
})
