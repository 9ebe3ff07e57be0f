import { expect, test } from 'vitest'
import { sha256 } from '../base/digest.ts'
import { MASK } from '../base/redact.ts'
import { canonicalArguments } from '../policy/canonical-arguments.ts'
import { argumentsForRecord } from '../record/summary.ts'
import { compareArguments } from './argument-changes.ts'

const plain = (text: string) => text

/** As one call is recorded and the next one is asked about. */
function compared(before: string, after: string, level: 'shape' | 'preview' | 'full' = 'preview') {
  return compareArguments(
    { text: argumentsForRecord(level, before, plain), bytes: Buffer.byteLength(before) },
    {
      text: argumentsForRecord('full', after, plain),
      digest: sha256(canonicalArguments(Buffer.from(after))),
    },
  )
}

test('[D11] the same arguments are the same, whatever the order of keys and the white space', () => {
  for (const level of ['preview', 'full'] as const)
    expect(compared('{"a":1,"b":{"c":[1,2]}}', '{ "b": {"c": [1, 2]}, "a": 1 }', level)).toEqual({
      changes: [],
    })
  expect(compared('{}', '{}', 'shape')).toEqual({ changes: [] })
})

test('[D11] what is masked may differ, and is never called the same', () => {
  const call = (password: string, to = 'ann') => JSON.stringify({ to, password })
  expect(compared(call('first secret'), call('other secret'))).toEqual({ changes: [], unseen: 'masked' })
  expect(compared(call('same secret'), call('same secret'))).toEqual({ changes: [], unseen: 'masked' })
  expect(compared(call('first secret'), call('other secret', 'bob'))).toEqual({
    changes: [{ path: 'to', before: 'ann', after: 'bob' }],
    unseen: 'masked',
  })
  // Written by the one who asks, to look like it.
  expect(compared(call('secret'), JSON.stringify({ to: 'ann', password: MASK }))).toEqual({
    changes: [],
    unseen: 'masked',
  })
})

test('[D11] a record of forms is not taken for arguments', () => {
  expect(compared('{"to":"ann","n":5}', '{"to":"ann","n":5}', 'shape')).toEqual({
    changes: [],
    unseen: 'unrecorded',
  })
  // As long as what it stands for.
  expect(compared('{"to":"ninechars"}', '{"to":"string(9)"}', 'shape').unseen).toBe('unrecorded')
})

test('[D11] what was cut, or never recorded, cannot be compared', () => {
  const long = JSON.stringify({ text: 'word '.repeat(2000) })
  expect(compared(long, long)).toEqual({ changes: [], unseen: 'unrecorded' })
  const after = { text: '{}', digest: sha256('{}') }
  expect(compareArguments({ text: undefined, bytes: 2 }, after)).toEqual({
    changes: [],
    unseen: 'unrecorded',
  })
})

test('[D11] long numbers are compared digit by digit', () => {
  expect(compared('{"id":12345678901234567891}', '{"id":12345678901234567891}')).toEqual({ changes: [] })
  expect(compared('{"id":12345678901234567891}', '{"id":12345678901234567000}').changes).toEqual([
    {
      path: 'id',
      before: '12345678901234567891',
      beforeText: '12345678901234567891',
      after: 12345678901234567000,
      afterText: '12345678901234567000',
    },
  ])
  expect(compared('{"n":1,"m":[2.50]}', '{"n":1.0,"m":[2.50]}').changes).toEqual([
    { path: 'n', before: 1, beforeText: '1', after: '1.0', afterText: '1.0' },
  ])
  // A text of digits is no number.
  expect(compared('{"n":"1234567890123456"}', '{"n":"1234567890123457"}').changes).toHaveLength(1)
})

test.each([
  ['"12345678901234567891"', '12345678901234567891'],
  ['12345678901234567891', '"12345678901234567891"'],
  ['["1.0"]', '[1.0]'],
  ['{"deep":[1.0,"x"]}', '[{"deep":"1.0"}]'],
  ['1e400', '"\\u00001e400"'],
  ['-0', '0'],
])('[D11] %s and %s are told apart, each as it was written', (before, after) => {
  // Lists are compared item by item.
  const { changes } = compared(`{"n":{"was":${before}}}`, `{"n":{"was":${after}}}`)
  expect(changes).toHaveLength(1)
  const [{ beforeText, afterText } = {}] = changes
  const [one, other] = before === '["1.0"]' ? ['"1.0"', '1.0'] : [before, after]
  expect([beforeText, afterText]).toEqual([one, other])
})

test('[D11] a text that begins like the mark of a number is a text', () => {
  expect(compared('{"n":5,"t5":"n5"}', '{"n":"n5","t5":"\\u00005"}').changes).toEqual([
    { path: 'n', before: 5, after: 'n5' },
    { path: 't5', before: 'n5', after: '\u00005' },
  ])
})

test('[D11] more changes than are shown are counted', () => {
  const of = (value: number) =>
    JSON.stringify(Object.fromEntries(Array.from({ length: 130 }, (_, at) => [`k${at}`, value])))
  const { changes, more, unseen } = compared(of(1), of(2), 'full')
  expect([changes.length, more, unseen]).toEqual([100, 30, undefined])
})

test('[D11] what is added, taken away or of another kind is a change, however deep', () => {
  const deep = (leaf: string) => `{"a":${'{"b":'.repeat(20)}${leaf}${'}'.repeat(20)}}`
  expect(compared(deep('{"x":1,"y":2}'), deep('{"y":2,"x":1}'))).toEqual({ changes: [] })
  expect(compared(deep('1'), deep('2')).changes).toEqual([
    { path: ['a', ...Array(20).fill('b')].join('/'), before: 1, after: 2 },
  ])
  expect(compared('{"a":[1],"b":1}', '{"a":{"0":1},"c":null}').changes).toEqual([
    { path: 'a', before: [1], after: { 0: 1 } },
    { path: 'b', before: 1 },
    { path: 'c', after: null },
  ])
})
