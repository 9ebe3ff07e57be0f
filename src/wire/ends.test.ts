import fc from 'fast-check'
import { expect, test } from 'vitest'
import { idOfCut, type Located, locateResult, quickResult, requestIdOfCut, spliced } from './ends.ts'
import type { Id } from './message.ts'
import { scanObject } from './scan.ts'
import { jsonText, messageText, objectJson } from './testing.ts'

const ways = [
  ['quickResult', quickResult],
  ['locateResult', locateResult],
] as const

function withId(bytes: Buffer, { splice }: Located, id: Id): string {
  return Buffer.concat(spliced(bytes, splice, id)).toString()
}

/** A message whose every member is known once, so that all readers see the same. */
function isPlain(text: string): boolean {
  const scan = scanObject(Buffer.from(text))
  if (!scan.ok) return false
  const keys = scan.members.map(({ key }) => key)
  return new Set(keys).size === keys.length && !keys.includes('method') && !keys.includes('error')
}

for (const [name, locate] of ways)
  test(`[B6] where ${name} answers, it has the id and the version that everybody else sees`, () => {
    let answered = 0
    fc.assert(
      fc.property(messageText, (text) => {
        const bytes = Buffer.from(text)
        const located = locate(bytes)
        if (located === undefined || !isPlain(text)) return
        answered += 1
        const whole = JSON.parse(text)
        expect(located.id).toEqual(whole.id)
        expect(whole.jsonrpc).toBe('2.0')
        expect(JSON.parse(withId(bytes, located, 'new'))).toEqual({ ...whole, id: 'new' })
      }),
      { numRuns: 3000 },
    )
    expect(answered).toBeGreaterThan(20)
  })

const usual: [string, Id][] = [
  ['{"jsonrpc":"2.0","id":7,"result":{}}', 7],
  ['{"jsonrpc":"2.0","id":0,"result":{"a":{"id":1}}}', 0],
  ['{"jsonrpc":"2.0","id":123456789012345,"result":{}}', 123456789012345],
  ['{"result":{},"jsonrpc":"2.0","id":7}', 7],
  ['{"result":{"id":1},"jsonrpc":"2.0","id":120}', 120],
]
for (const [text, id] of usual)
  test(`both find the id of ${text}`, () => {
    for (const [, locate] of ways) expect(locate(Buffer.from(text))?.id).toBe(id)
  })

const spaced: [string, Id][] = [
  ['{"id":"a","jsonrpc":"2.0","result":{"b":1}}', 'a'],
  ['{ "jsonrpc" : "2.0" , "id" : -3 , "result" : { "a" : [ 1 ] } }\r\n', -3],
  ['{"jsonrpc":"2.0","id":1.5,"result":{}}', 1.5],
  ['{"jsonrpc":"2.0","id":"é\\n","result":{}}', 'é\n'],
  ['{"id":4,"result":{},"jsonrpc":"2.0"}', 4],
  ['{"jsonrpc":"2.0","result":{},"id":"last"}', 'last'],
  ['{"result":{},"jsonrpc": "2.0" , "id": 12345678901234567891 } ', Number('12345678901234567891')],
]
for (const [text, id] of spaced)
  test(`the second look finds the id of ${JSON.stringify(text)}`, () => {
    const bytes = Buffer.from(text)
    const located = locateResult(bytes)
    expect(quickResult(bytes)).toBeUndefined()
    expect(located?.id).toBe(id)
    expect(located && JSON.parse(withId(bytes, located, 'new'))).toEqual({ ...JSON.parse(text), id: 'new' })
  })

const refused = [
  '{ "jsonrpc" : "2.0" , "id" : 1 , "result" : [ 1 ] }',
  '{"jsonrpc":"2.0","id":1,"result":{},"id":2}',
  '{"jsonrpc":"2.0","id":1,"result":{},"id":2.5}',
  '{"jsonrpc":"2.0","id":1,"result":{},"id":null}',
  '{"id":1,"result":{},"jsonrpc":"2.0","id":2}',
  '{"id":1,"result":{},"jsonrpc":"2.0","id":2.5}',
  '{"id":1,"id":2,"jsonrpc":"2.0","result":{}}',
  '{"jsonrpc":"2.0","\\u0069d":1,"result":{}}',
  '{"jsonrpc":"2.0","id":"id","result":{}}',
  '{"jsonrpc":"2.0","id":null,"result":{}}',
  '{"jsonrpc":"2.0","id":true,"result":{}}',
  '{"jsonrpc":"2.0","id":01,"result":{}}',
  '{"result":{},"jsonrpc":"2.0","id":01}',
  '{"jsonrpc":"1.0","id":1,"result":{}}',
  '{"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"result":{}}',
  '{"jsonrpc":"2.0","id":1,"result":{},"jsonrpc":"2.0"}',
  '{"id":1,"result":{}}',
  '{"result":{},"id":1}',
  '{"result":{"a":1,"id":1}',
  '{"jsonrpc":"2.0","id":1,"result":7}',
  '{"jsonrpc":"2.0","id":1,"error":{}}',
  '{"jsonrpc":"2.0","id":1,"method":"m","params":{}}',
  '{"jsonrpc":"2.0","id":1,"x":2,"result":{}}',
  '{"jsonrpc":"2.0","id":1,"result":{}} and more',
  '{"jsonrpc":"2.0","id":1,"result":{}',
  '{"jsonrpc":"2.0","id":1,"result":{"a":"}',
  '',
  '}',
]
for (const text of refused)
  test(`neither takes an id from ${JSON.stringify(text)}`, () => {
    for (const [, locate] of ways) expect(locate(Buffer.from(text))).toBeUndefined()
  })

test('a second id in the middle changes nothing for readers, because the new one comes last', () => {
  const bytes = Buffer.from('{"jsonrpc":"2.0","id":1,"result":{},"id":2,"x":{}}')
  for (const [, locate] of ways) {
    const located = locate(bytes)
    expect(located && JSON.parse(withId(bytes, located, 9)).id).toBe(9)
  }
})

test('[B6] finds the id of an answer of which only 4 KiB of either end are there', () => {
  const ids = fc.oneof(fc.integer(), fc.stringMatching(/^[ !#-[\]-~]{0,200}$/))
  const forms = fc.constantFrom(
    (id: string, body: string) => `{"jsonrpc":"2.0","id":${id},"result":${body}}`,
    (id: string, body: string) => `{"id" : ${id} ,\n"jsonrpc":"2.0","error":${body}}`,
    (id: string, body: string) => `{"result":${body},"jsonrpc":"2.0","id":${id}}`,
    (id: string, body: string) => `{"jsonrpc":"2.0","error": ${body} ,\t"id" :${id} }\r`,
    (id: string, body: string) => `{"result":${body},"id":${id},"jsonrpc":"2.0"}`,
    (id: string, body: string) =>
      `{"error":${body} , "id": ${id}, "took" : -1.5e3 ,"jsonrpc": "2.0", "ok":true }`,
    (id: string, body: string) => `{"result":"${'x'.repeat(9000)}","x":${body},"id":${id},"jsonrpc":"2.0"}`,
    (id: string, body: string) => `{"jsonrpc":"2.0","id":${id},"result":"${'x'.repeat(9000)}","a":${body}}`,
  )
  fc.assert(
    fc.property(ids, forms, objectJson, (id, form, body) => {
      const filler = `{"id":3,"a":"${',\\"id\\":4}'.repeat(600)}","b":${body}}`
      const bytes = Buffer.from(form(JSON.stringify(id), filler))
      expect(idOfCut(bytes.subarray(0, 4096), bytes.subarray(-4096))).toBe(id)
    }),
    { numRuns: 300 },
  )
})

test('[B6] takes no id from the ends that a whole answer has not, whatever stands in it', () => {
  let taken = 0
  const members = fc.array(
    fc.tuple(fc.constantFrom('"id"', '"a"', '"jsonrpc"', '"k,"', '"{"', '":"', '"\\"id\\":3,"'), jsonText),
    { maxLength: 4 },
  )
  const part = members.map((some) => some.map(([key, it]) => `,${key}:${it}`).join(''))
  fc.assert(
    fc.property(part, part, objectJson, fc.nat(600), (before, after, body, fill) => {
      const text = `{"result":{"text":"${'x'.repeat(fill)}","in":${body}${before}}${after},"jsonrpc":"2.0"}`
      const bytes = Buffer.from(text)
      const id = idOfCut(bytes.subarray(0, 4096), bytes.subarray(-4096))
      if (id === undefined) return
      taken += 1
      expect(id).toEqual(JSON.parse(text).id)
    }),
    { numRuns: 3000 },
  )
  expect(taken).toBeGreaterThan(20)
})

test('[B6] takes an id from a cut or broken line only where something shows that it is an answer', () => {
  const rows: [string, Id | undefined][] = [
    ['{"level":"info","id":5,"msg":"handled"}', undefined],
    ['{"id":5}', undefined],
    ['{"error":"not found","id":5}', undefined],
    ['{"time":{"a":1},"id":5}', undefined],
    ['{"id":5,"msg":"result","x":', undefined],
    ['{"id":5,"result":{"a":', 5],
    ['{"id":5,"result":"no end', 5],
    ['{"id":5,"error":{"code":', 5],
    ['{"id":5,"error":{}}', 5],
    ['{"id":5,"jsonrpc":"2.0","res', 5],
    ['{"id":5,"jsonrpc":"2', 5],
    ['{"jsonrpc":"2.0","id":5,"re', 5],
    ['{"x":[],"id":5,"jsonrpc":"2.0"}', 5],
    ['{"x":[],"id":5,"method":"m","jsonrpc":"2.0"}', undefined],
    ['{"id":5,"jsonrpc":"2.0","method":"no end', undefined],
    ['{"result":{},"id":5,"id":6,"jsonrpc":"2.0"}', undefined],
    ['{"result":{"a":",\\"id\\":5,\\"jsonrpc\\":\\"2.0\\"}"}}', undefined],
    ['{"result":{},"a":"x,","b":",","id":5,"c":":","jsonrpc":"2.0"}', 5],
  ]
  for (const [text, id] of rows) {
    const bytes = Buffer.from(text)
    expect([text, idOfCut(bytes, bytes)]).toEqual([text, id])
  }
})

const without: [string, string][] = [
  ['a request, whose id is the other side’s', '{"jsonrpc":"2.0","id":5,"method":"m","params":{"a":1}}'],
  ['a request with its id last', '{"method":"m","params":{"a":1},"jsonrpc":"2.0","id":5}'],
  ['a request that names its method last', '{"id":5,"params":{"a":1},"method":"m"}'],
  ['an id that is an object', '{"jsonrpc":"2.0","id":{"a":1},"result":{}}'],
  ['an id that is a list', '{"id":[1]}'],
  ['null as id', '{"jsonrpc":"2.0","id":null,"error":{}}'],
  ['an id in the result', '{"jsonrpc":"2.0","result":{"id":5}}'],
  ['what is no message', 'Listening on port 3000'],
  ['nothing', ''],
]
for (const [title, text] of without)
  test(`finds no id in ${title}`, () => {
    const bytes = Buffer.from(text)
    expect(idOfCut(bytes, bytes)).toBeUndefined()
  })

test('takes no id that was cut in its middle', () => {
  const bytes = Buffer.from('{"jsonrpc":"2.0","id":1234,"result":{}}')
  expect(idOfCut(bytes.subarray(0, 24), bytes.subarray(24))).toBeUndefined()
  expect(idOfCut(bytes.subarray(0, 27), bytes.subarray(27))).toBe(1234)
})

test('[B6] finds the id of a request of which only the ends are there, to the last digit', () => {
  const big = `"${'x'.repeat(9000)}"`
  const texts: [string, unknown][] = [
    [`{"jsonrpc":"2.0","id":5,"method":"m","params":{"a":${big}}}`, 5],
    [`{"method":"m","params":{"a":${big},"id":3},"jsonrpc":"2.0","id":"five"}`, 'five'],
    [`{"jsonrpc":"2.0","id":12345678901234567891,"method":"m","params":{"a":${big}}}`, 12345678901234567891n],
    // What is nobody's question, or may be our own, is not given back.
    [`{"method":"m","params":{"a":${big}}}`, undefined],
    [`{"jsonrpc":"2.0","id":5,"result":{"a":${big}}}`, undefined],
    [`{"jsonrpc":"2.0","id":5,"error":{"a":${big}}}`, undefined],
    [`{"id":5,"x":${big}}`, undefined],
    [`[{"jsonrpc":"2.0","id":5,"method":"m","params":{"a":${big}}}]`, undefined],
  ]
  for (const [text, id] of texts) {
    const bytes = Buffer.from(text)
    expect(requestIdOfCut(bytes.subarray(0, 4096), bytes.subarray(-4096))).toBe(id)
  }
})
