import { expect, test } from 'vitest'
import { Fault } from '../../base/fault.ts'
import type { Change } from './change.ts'
import { editText } from './edit.ts'

const set: Change = { kind: 'set', path: ['a'], value: 2 }

function faultOf(run: () => unknown): Fault {
  try {
    run()
  } catch (error) {
    if (error instanceof Fault) return error
    throw error
  }
  throw new Error('no fault')
}

const SAME: [sentence: string, syntax: 'yaml' | 'json', text: string, change: Change][] = [
  [
    'deletes nothing where the key is absent',
    'yaml',
    'a: 0x2  # two\n',
    { kind: 'delete', path: ['b', 'c'] },
  ],
  ['deletes nothing where the element is absent', 'json', '[ 1 ]', { kind: 'delete', path: [1] }],
  ['sets nothing where the value is the same', 'yaml', 'a: 0x2  # two\n', set],
  [
    'sets nothing where only the order of keys differs',
    'json',
    '{"a": {"x":1,"y":2} }',
    { ...set, value: { y: 2, x: 1 } },
  ],
  ['appends no element twice', 'yaml', 'a: [ {x: 1} ]\n', { kind: 'append', path: ['a'], value: { x: 1 } }],
]

for (const [sentence, syntax, text, change] of SAME) {
  test(sentence, () => {
    expect(editText(text, syntax, [change])).toBe(text)
  })
}

test('makes changes one after another', () => {
  const changes: Change[] = [set, { kind: 'set', path: ['b'], value: 1 }, { kind: 'delete', path: ['a'] }]
  expect(editText('a: 1\n', 'yaml', changes)).toBe('b: 1\n')
})

test('leaves out members that JSON does not know', () => {
  expect(editText('', 'yaml', [{ ...set, value: { x: undefined, y: 1 } }])).toBe('a:\n  y: 1\n')
})

const REFUSED: [sentence: string, syntax: 'yaml' | 'json', text: string, change: Change, message: string][] =
  [
    ['broken YAML', 'yaml', 'a: 1\nb: [\n', set, 'line 3'],
    [
      'a key that stands twice in YAML',
      'yaml',
      'a: 1\nb: 1\nb: 2\n',
      set,
      'line 3: the same key stands twice',
    ],
    [
      'a key that stands twice as text and number',
      'yaml',
      '1: a\n"1": b\n',
      set,
      'line 2: the key 1 stands twice',
    ],
    ['a second document', 'yaml', 'a: 1\n---\nb: 1\n', set, 'line 2: a second document starts here'],
    ['an alias without an anchor', 'yaml', 'b: 1\na: *x\n', set, 'line 2: an alias has no anchor before it'],
    [
      'an alias inside of its anchor',
      'yaml',
      'a: &x [*x]\n',
      set,
      'line 1: an alias stands inside of its own anchor',
    ],
    ['broken JSON', 'json', '{\n  "a": 1\n  "b": 2\n}', set, 'line 3: Comma expected'],
    [
      'a key that stands twice in JSON',
      'json',
      '{\n  "a": 1,\n  "a": 2\n}',
      set,
      'line 3: the key a stands twice',
    ],
    [
      'to delete an anchor in use',
      'yaml',
      'a: &x 1\nb: *x\n',
      { kind: 'delete', path: ['a'] },
      'cannot delete a: it would break line 1',
    ],
    [
      'to change a value in two places',
      'yaml',
      'a: &x 1\nb: *x\n',
      set,
      'cannot set a: something else in the file would change',
    ],
    [
      'to write below a value',
      'yaml',
      'a: text\n',
      { kind: 'set', path: ['a', 'b'], value: 1 },
      'a is the value "text", not a map',
    ],
  ]

for (const [sentence, syntax, text, change, message] of REFUSED) {
  test(`refuses ${sentence}`, () => {
    const fault = faultOf(() => editText(text, syntax, [change]))
    expect(fault.code).toBe('CONFIG_EDIT')
    expect(fault.message).toContain(message)
    expect(fault.hint).toBeTypeOf('string')
  })
}

test('refuses a bomb of aliases', () => {
  const rows = Array.from(
    { length: 9 },
    (_, row) => `x${row + 1}: &x${row + 1} [${Array(9).fill(`*x${row}`)}]`,
  )
  const text = ['x0: &x0 [1]', ...rows].join('\n')
  expect(faultOf(() => editText(text, 'yaml', [set])).message).toContain('aliases')
})
