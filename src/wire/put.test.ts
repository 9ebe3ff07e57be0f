import fc from 'fast-check'
import { expect, test } from 'vitest'
import { membersIn, withOwn } from './put.ts'

const put = (text: string, own: Record<string, unknown>) => {
  const bytes = Buffer.from(text)
  return Buffer.concat(withOwn(bytes, own, membersIn(bytes))).toString()
}

test('puts members in front, and takes out those of the same name, however often they are there', () => {
  const own = { a: 1 }
  for (const [text, expected] of [
    ['{}', '{"a":1}'],
    [' { } ', '{"a":1 } '],
    ['{"b":2}', '{"a":1,"b":2}'],
    ['{"a":2}', '{"a":1}'],
    ['{ "a" : {"a":3} , "b" : [1e2] }', '{"a":1, "b" : [1e2]}'],
    ['{"b":2 , "\\u0061":3}', '{"a":1,"b":2}'],
    ['{"a":0,"b":1.0,"c":"é","a":{},"d":{"a":5},"a":null}', '{"a":1,"b":1.0,"c":"é","d":{"a":5}}'],
  ] as const)
    expect([text, put(text, own)]).toEqual([text, expected])
})

test('what is put in counts, and everything else stays', () => {
  const key = fc.constantFrom('a', 'b', 'c', '"', 'ä')
  const space = fc.constantFrom('', ' ', '\n\t')
  const member = fc.tuple(key, fc.jsonValue(), space)
  fc.assert(
    fc.property(fc.array(member), fc.dictionary(key, fc.jsonValue(), { minKeys: 1 }), (members, own) => {
      const inside = members.map(
        ([name, value, pad]) => `${pad}${JSON.stringify(name)}${pad}:${JSON.stringify(value)}${pad}`,
      )
      const text = `{${inside.join(',')}}`
      expect(JSON.parse(put(text, own))).toEqual({ ...JSON.parse(text), ...JSON.parse(JSON.stringify(own)) })
    }),
  )
})

test('an object that cannot be read is refused', () => {
  for (const text of ['[]', '{"a":}', 'null', ''])
    expect(() => membersIn(Buffer.from(text))).toThrow('cannot be read')
})
