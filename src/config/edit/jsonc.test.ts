import { expect, test } from 'vitest'
import type { Change, Path } from './change.ts'
import { editText } from './edit.ts'

const set = (path: Path, value: unknown): Change => ({ kind: 'set', path, value })
const remove = (path: Path): Change => ({ kind: 'delete', path })
const append = (path: Path, value: unknown): Change => ({ kind: 'append', path, value })

const CASES: [sentence: string, before: string, changes: Change | Change[], after: string][] = [
  ['fills an empty file with an object', '', set(['a', 'b'], 1), '{\n  "a": {\n    "b": 1\n  }\n}\n'],
  ['fills a file of comments behind them', '// c', set(['a'], 1), '// c\n{\n  "a": 1\n}\n'],
  ['fills an empty object', '{}\n', set(['a'], [1]), '{\n  "a": [\n    1\n  ]\n}\n'],
  [
    'fills an empty object on a line of many',
    '{"a": {}, "b": []}',
    [set(['a', 'c'], 1), append(['b'], 'x')],
    '{"a": {"c": 1}, "b": ["x"]}',
  ],
  ['fills empty brackets around a comment', '{\n  // c\n}\n', set(['a'], 1), '{\n  // c\n  "a": 1\n}\n'],
  [
    'fills empty brackets around a comment on one line',
    '{"a": [ /* c */ ]}',
    append(['a'], 1),
    '{"a": [ /* c */ 1 ]}',
  ],
  [
    'gives null a value',
    '{\n  "a": null // c\n}',
    set(['a', 'b'], 1),
    '{\n  "a": {\n    "b": 1\n  } // c\n}',
  ],
  ['adds on one line', '{"a": 1}', set(['b'], { c: [1, 2] }), '{"a": 1, "b": {"c": [1, 2]}}'],
  [
    'adds without spaces where there are none',
    '{"a":[1,2]}',
    [set(['b'], { c: [1, 2] }), append(['a'], 3)],
    '{"a":[1,2,3],"b":{"c":[1,2]}}',
  ],
  [
    'adds a line in the indent of its siblings',
    '{\n\t"a": 1 // c\n\t// d\n}\n',
    set(['b'], { c: 1 }),
    '{\n\t"a": 1, // c\n\t"b": {\n\t\t"c": 1\n\t}\n\t// d\n}\n',
  ],
  [
    'adds a line where commas trail',
    '{\n    "a": 1, // c\n}\n',
    set(['b'], 2),
    '{\n    "a": 1, // c\n    "b": 2,\n}\n',
  ],
  [
    'adds behind a comma further down',
    '{\n  "a": 1 // c\n  ,\n}',
    set(['b'], 2),
    '{\n  "a": 1 // c\n  ,\n  "b": 2,\n}',
  ],
  [
    'keeps CRLF and the byte-order mark',
    '\uFEFF{\r\n  "a": 1\r\n}\r\n',
    set(['b'], [2]),
    '\uFEFF{\r\n  "a": 1,\r\n  "b": [\r\n    2\r\n  ]\r\n}\r\n',
  ],
  [
    'replaces a value and nothing around it',
    '{ "a" : /* x */ 1 /* y */ }',
    set(['a'], 'z'),
    '{ "a" : /* x */ "z" /* y */ }',
  ],
  [
    'keeps a list on one line',
    '{\n  "a": [1, 2], // c\n  "b": {}\n}',
    set(['a'], ['x']),
    '{\n  "a": ["x"], // c\n  "b": {}\n}',
  ],
  ['removes the first entry of a line', '{ "a": 1, "b": 2 }', remove(['a']), '{ "b": 2 }'],
  ['removes the last entry of a line', '[1, 2, 3]', remove([2]), '[1, 2]'],
  ['keeps a trailing comma when the last element goes', '[ 1, 2, ]', remove([1]), '[ 1, ]'],
  [
    'removes a line and the comma before it',
    '{\n  "a": 1, // c\n  // d\n  "b": 2 // e\n  // f\n}',
    remove(['b']),
    '{\n  "a": 1 // c\n  // d\n  // f\n}',
  ],
  [
    'removes a line and its comma',
    '{\n  // c\n  "a": {\n    "x": 1\n  },\n  // d\n  "b": 2\n}',
    remove(['a']),
    '{\n  // c\n  // d\n  "b": 2\n}',
  ],
  [
    'keeps a comment that shares the line with another entry',
    '[\n  1, 2, // c\n  3\n]',
    remove([1]),
    '[\n  1, // c\n  3\n]',
  ],
  [
    'keeps a comment before an entry on its line',
    '[\n  /* c */ 1,\n  2\n]',
    remove([0]),
    '[\n  /* c */\n  2\n]',
  ],
  [
    'leaves bare brackets for the only entry',
    '{\n  "a": {\n    "b": 1 // c\n  }\n}',
    remove(['a', 'b']),
    '{\n  "a": {}\n}',
  ],
  [
    'keeps the comments around the only entry',
    '{\n  // c\n  "a": 1\n  // d\n}',
    remove(['a']),
    '{\n  // c\n  // d\n}',
  ],
  [
    'knows a key named __proto__',
    '{"__proto__": 1}',
    [set(['b'], 2), set(['__proto__'], 3)],
    '{"__proto__": 3, "b": 2}',
  ],
]

for (const [sentence, before, changes, after] of CASES) {
  test(sentence, () => {
    expect(editText(before, 'json', [changes].flat())).toBe(after)
  })
}
