import { expect, test } from 'vitest'
import { applyChange } from './apply.ts'
import type { Change } from './change.ts'

const CASES: [sentence: string, data: unknown, change: Change, result: unknown][] = [
  ['sets a key', { a: 1 }, { kind: 'set', path: ['b'], value: 2 }, { a: 1, b: 2 }],
  ['makes missing parents as maps', null, { kind: 'set', path: ['a', 0], value: 1 }, { a: { 0: 1 } }],
  [
    'takes null for a missing parent',
    { a: null },
    { kind: 'set', path: ['a', 'b'], value: 1 },
    { a: { b: 1 } },
  ],
  ['replaces the whole', { a: 1 }, { kind: 'set', path: [], value: [] }, []],
  ['replaces an element', [1, 2], { kind: 'set', path: [1], value: 3 }, [1, 3]],
  ['sets the element behind the last', [1], { kind: 'set', path: ['1'], value: 3 }, [1, 3]],
  ['deletes a key', { a: 1, b: 2 }, { kind: 'delete', path: ['a'] }, { b: 2 }],
  ['deletes an element', { a: [1, 2] }, { kind: 'delete', path: ['a', 0] }, { a: [2] }],
  ['deletes nothing below a value', { a: 'x' }, { kind: 'delete', path: ['a', 'length'] }, { a: 'x' }],
  ['appends an element', { a: [1] }, { kind: 'append', path: ['a'], value: 2 }, { a: [1, 2] }],
  ['makes the list to append to', {}, { kind: 'append', path: ['a', 'b'], value: 2 }, { a: { b: [2] } }],
  ['makes the list in the place of null', { a: null }, { kind: 'append', path: ['a'], value: 2 }, { a: [2] }],
]

for (const [sentence, data, change, result] of CASES) {
  test(sentence, () => {
    const before = structuredClone(data)
    expect(applyChange(data, change)).toEqual(result)
    expect(data).toEqual(before)
  })
}

test('appends no equal element', () => {
  const data = { a: [{ x: 1 }] }
  expect(applyChange(data, { kind: 'append', path: ['a'], value: { x: 1 } })).toBe(data)
})

test('changes a shared object wherever it stands', () => {
  const shared = { k: 1 }
  const data = { a: shared, b: [shared], c: { k: 1 } }
  const result = applyChange(data, { kind: 'set', path: ['a', 'k'], value: 2 })
  expect(result).toEqual({ a: { k: 2 }, b: [{ k: 2 }], c: { k: 1 } })
})

test('keeps a key named __proto__ as data', () => {
  const data = JSON.parse('{"__proto__": {"x": 1}}')
  const result = applyChange(data, { kind: 'set', path: ['__proto__', 'y'], value: 2 })
  expect(JSON.stringify(result)).toBe('{"__proto__":{"x":1,"y":2}}')
})

const merged = { '<<': [{ list: [1], map: { x: 1 } }], own: 1 }
const REFUSED: [sentence: string, data: unknown, change: Change, message: string][] = [
  ['to delete everything', {}, { kind: 'delete', path: [] }, 'the whole file'],
  [
    'a place a list does not have',
    { a: [1] },
    { kind: 'set', path: ['a', 5], value: 1 },
    'a is a list and has no place 5',
  ],
  [
    'to append to a map',
    { a: { b: {} } },
    { kind: 'append', path: ['a', 'b'], value: 1 },
    'a.b is a map, not a list',
  ],
  [
    'to go below a value',
    { a: ['x'] },
    { kind: 'set', path: ['a', 0, 'c'], value: 1 },
    'a[0] is the value "x", not a map',
  ],
  ['to delete what a merge brings in', merged, { kind: 'delete', path: ['map'] }, 'map is merged in'],
  ['to hide a merged map', merged, { kind: 'set', path: ['map', 'y'], value: 1 }, 'map is merged in'],
  ['to hide a merged list', merged, { kind: 'append', path: ['list'], value: 1 }, 'list is merged in'],
]

for (const [sentence, data, change, message] of REFUSED) {
  test(`refuses ${sentence}`, () => {
    expect(() => applyChange(data, change)).toThrow(message)
  })
}
