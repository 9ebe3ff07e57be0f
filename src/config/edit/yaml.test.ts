import { expect, test } from 'vitest'
import type { Change, Path } from './change.ts'
import { editText } from './edit.ts'

const set = (path: Path, value: unknown): Change => ({ kind: 'set', path, value })
const remove = (path: Path): Change => ({ kind: 'delete', path })
const append = (path: Path, value: unknown): Change => ({ kind: 'append', path, value })

type Case = readonly [sentence: string, before: string, changes: Change | Change[], after: string]

const FILES: Case[] = [
  ['fills an empty file', '', set(['a', 'b'], 1), 'a:\n  b: 1\n'],
  ['fills a file of comments behind them', '# c\n\n', set(['a'], 1), '# c\n\na: 1\n'],
  ['keeps a missing final newline in a file of comments', '# c', set(['a'], 1), '# c\na: 1'],
  ['fills an empty document between its markers', '---\n# c\n...\n', set(['a'], 1), '---\n# c\na: 1\n...\n'],
  ['makes a list in an empty file', '', append([], 'x'), '- x\n'],
  ['edits between markers', '---\na: 1\n...\n', set(['b'], 2), '---\na: 1\nb: 2\n...\n'],
  ['moves below a marker that held an empty map', '--- {} # c\n', set(['a'], 1), '--- # c\na: 1\n'],
  ['keeps CRLF', 'a:\r\n  b: 1\r\n', set(['a', 'c', 'd'], 1), 'a:\r\n  b: 1\r\n  c:\r\n    d: 1\r\n'],
  ['keeps a byte-order mark', '\uFEFFa: 1\n', set(['b'], 2), '\uFEFFa: 1\nb: 2\n'],
  ['keeps a missing final newline', 'a: 1', set(['b', 'c'], 'x'), 'a: 1\nb:\n  c: x'],
  ['keeps it when the last key goes', 'a: 1\n# c\nb: 2', remove(['b']), 'a: 1\n# c'],
  [
    'reads an old version as it says',
    '%YAML 1.1\n---\na: no\n',
    set(['b'], 'yes'),
    '%YAML 1.1\n---\na: no\nb: "yes"\n',
  ],
]

const INSERTS: Case[] = [
  [
    'puts a key before the comment of the next one',
    'a:\n  b: 1\n\n# d\nd: 2\n',
    set(['a', 'c'], 1),
    'a:\n  b: 1\n  c: 1\n\n# d\nd: 2\n',
  ],
  [
    'puts a key before a comment at the end of the file',
    'a: 1 # x\n\n# end\n',
    set(['b'], 2),
    'a: 1 # x\nb: 2\n\n# end\n',
  ],
  [
    'puts a key behind comments that are indented below the last one',
    'a:\n  b: 1\n  # c: 2\n# end\n',
    set(['d'], 3),
    'a:\n  b: 1\n  # c: 2\nd: 3\n# end\n',
  ],
  [
    'takes the indent width of the file',
    'a:\n    b: 1\n',
    set(['c', 'd'], { e: [1] }),
    'a:\n    b: 1\nc:\n    d:\n        e:\n            - 1\n',
  ],
  ['takes flush lists from the file', 'a:\n- 1\n', set(['b'], [1, 2]), 'a:\n- 1\nb:\n- 1\n- 2\n'],
  [
    'adds to a map behind a dash',
    '- a: 1\n  b: 2\n- c: 3\n',
    set([0, 'd'], 4),
    '- a: 1\n  b: 2\n  d: 4\n- c: 3\n',
  ],
  [
    'appends to an indented list',
    'a:\n  - x # c\n  # y\nb: 1\n',
    append(['a'], { k: 1, l: 2 }),
    'a:\n  - x # c\n  - k: 1\n    l: 2\n  # y\nb: 1\n',
  ],
  ['appends to a flush list', 'a:\n- x\n# c\nb: 1\n', append(['a'], 'y'), 'a:\n- x\n- y\n# c\nb: 1\n'],
  ['appends to a list in a list', '- - a\n  - b\n- c\n', append([0], [1]), '- - a\n  - b\n  - - 1\n- c\n'],
  [
    'adds behind a block scalar',
    'a: |\n  x\n\n  y\n\n# c\n',
    set(['b'], 1),
    'a: |\n  x\n\n  y\nb: 1\n\n# c\n',
  ],
  [
    'adds behind a scalar that keeps its line breaks',
    'a: |+\n  x\n\n',
    set(['b'], 1),
    'a: |+\n  x\n\nb: 1\n',
  ],
  ['fills a key without a value', 'a: # c\n  # d\nb:\n', set(['a', 'x'], 1), 'a: # c\n  # d\n  x: 1\nb:\n'],
  ['fills a dash without a value', '-\n- a\n', set([0, 'x'], 1), '- x: 1\n- a\n'],
  ['fills an empty map in block style', 'a: {} # c\nb: 1\n', set(['a', 'x'], 1), 'a: # c\n  x: 1\nb: 1\n'],
  ['fills an empty list in block style', 'a: []\n', append(['a'], 'x'), 'a:\n  - x\n'],
  ['fills empty brackets around a comment', 'a: [ # c\n  ]\n', append(['a'], 'x'), 'a: [ # c\n    x\n  ]\n'],
  ['adds to a flow map', 'a: {b: 1}\n', set(['a', 'c'], { d: [1, 'x y'] }), 'a: {b: 1, c: {d: [1, x y]}}\n'],
  [
    'adds to a flow list with a trailing comma',
    'a: [ x, y, ] # c\n',
    append(['a'], 'z'),
    'a: [ x, y, z, ] # c\n',
  ],
  [
    'adds a line to a flow list of many lines',
    'a: [\n  x, # 1\n  y # 2\n  # 3\n]\n',
    append(['a'], 'z'),
    'a: [\n  x, # 1\n  y, # 2\n  z\n  # 3\n]\n',
  ],
  [
    'adds inside the last line of a wrapped flow list',
    'a: [x, y,\n    z]\n',
    append(['a'], 'w'),
    'a: [x, y,\n    z,\n    w]\n',
  ],
  ['gives a lone pair its braces', 'a: [b: 1]\n', set(['a', 0, 'c'], 2), 'a: [{b: 1, c: 2}]\n'],
  [
    'quotes only what needs it',
    'a: 1\n',
    [set(['x: y'], 'yes'), set(['b'], '# no'), set(['c'], '5'), set(['1'], '')],
    'a: 1\n"x: y": yes\nb: "# no"\nc: "5"\n"1": ""\n',
  ],
  [
    'quotes for flow what is plain in a block',
    'a: {}\nb: [x]\n',
    append(['b'], 'y, z'),
    'a: {}\nb: [x, "y, z"]\n',
  ],
  [
    'writes text of several lines as a block scalar',
    'a: 1 # c\n',
    set(['a'], 'x\ny\n'),
    'a: | # c\n  x\n  y\n',
  ],
  [
    'quotes text that a comment below would join',
    'a: 1\n    # c\n',
    set(['a'], 'x\ny'),
    'a: "x\\ny"\n    # c\n',
  ],
]

const REPLACEMENTS: Case[] = [
  ['quotes text above a comment behind a tab', '- - 1\n\t# c\n', set([0, 0], 'x\ny'), '- - "x\\ny"\n\t# c\n'],
  ['keeps the comment behind a scalar', 'a:   1   # c\n', set(['a'], 'x'), 'a:   x   # c\n'],
  ['replaces a value on a line of its own', 'a:\n  # c\n  1 # d\n', set(['a'], 2), 'a:\n  # c\n  2 # d\n'],
  [
    'moves a value up that a comment cut off',
    '- a:\n# c\n    [1]\n  b: 2\n',
    set([0, 'a'], 'x'),
    '- a: x\n# c\n  b: 2\n',
  ],
  [
    'replaces a block scalar and keeps the comment of its header',
    'a: |- # c\n  x\n  y\n\nb: 1\n',
    set(['a'], 'z'),
    'a: z # c\n\nb: 1\n',
  ],
  [
    'replaces a block by a scalar',
    'a: # c\n  # d\n  b: 1\n  c: 2 # e\n# f\n',
    set(['a'], 'x'),
    'a: x # c\n  # d\n# f\n',
  ],
  [
    'replaces a block by a block at its column',
    'a:\n   b: 1\n   c: 2\nd: 1\n',
    set(['a'], { x: [1] }),
    'a:\n   x:\n      - 1\nd: 1\n',
  ],
  ['replaces a flush list by a map', 'a:\n- 1\n- 2\n', set(['a'], { x: 1 }), 'a:\n  x: 1\n'],
  ['replaces a scalar by a block', 'a: 1 # c\n', set(['a'], { x: 1 }), 'a: # c\n  x: 1\n'],
  [
    'replaces behind a dash',
    '- a: 1\n  b: 2\n- c # d\n',
    [set([0], 'x'), set([1], { y: 1, z: 2 })],
    '- x\n- # d\n  y: 1\n  z: 2\n',
  ],
  ['keeps a list on one line', 'a: [x, y] # c\n', set(['a'], ['z', 1]), 'a: [z, 1] # c\n'],
  [
    'gives null keys in a flow map their values',
    'a: {b, c: , d:}\n',
    [set(['a', 'b'], 1), set(['a', 'c'], 2), set(['a', 'd'], 3)],
    'a: {b: 1, c: 2 , d: 3}\n',
  ],
  ['gives an explicit key its value', '? a\nb: 1\n', set(['a'], 1), '? a\n: 1\nb: 1\n'],
  ['drops a tag that would retype the value', 'a: !!str 1 # c\n', set(['a'], 2), 'a: 2 # c\n'],
  ['keeps an anchor', 'a: &x 1\n', set(['a'], { b: 1 }), 'a: &x\n  b: 1\n'],
  ['finds quoted and number keys', '"a b": 1\n7: x\n', [set(['a b'], 2), set([7], 'y')], '"a b": 2\n7: y\n'],
  ['replaces the whole document', '# c\na: 1\nb: 2\n# d\n', set([], { x: 1 }), '# c\nx: 1\n# d\n'],
]

const REMOVALS: Case[] = [
  ['removes the first key', '# c\na: 1 # x\n# d\nb: 2\n', remove(['a']), '# c\n# d\nb: 2\n'],
  [
    'removes a key in the middle with all its lines',
    'a: 1\n# c\nb:\n  # in\n  x: |\n    y\n  # tail\n\n# d\ne: 1\n',
    remove(['b']),
    'a: 1\n# c\n\n# d\ne: 1\n',
  ],
  ['removes the last key', 'a: 1\nb: [\n  1\n]\n# d\n', remove(['b']), 'a: 1\n# d\n'],
  [
    'leaves an empty map for the only key',
    'a: # c\n  # d\n  b: 1 # e\n  # f\ng: 1\n',
    remove(['a', 'b']),
    'a: {} # c\n  # d\n  # f\ng: 1\n',
  ],
  ['leaves an empty map for the whole file', '# c\na: 1\n', remove(['a']), '# c\n{}\n'],
  ['leaves an empty list for the only element', 'a:\n- b\nc: 1\n', remove(['a', 0]), 'a: []\nc: 1\n'],
  ['moves the second key behind the dash', '- a: 1\n  b: 2\n', remove([0, 'a']), '- b: 2\n'],
  [
    'leaves the dash alone above a comment',
    '- a: 1\n  # c\n  b: 2\n',
    remove([0, 'a']),
    '-\n  # c\n  b: 2\n',
  ],
  [
    'removes a list element',
    'a:\n  - 1\n  # c\n  - b: 2\n    c: 3\n  - 4\n',
    remove(['a', 1]),
    'a:\n  - 1\n  # c\n  - 4\n',
  ],
  [
    'removes flow elements and keeps the comment behind the list',
    'a: [x, y, z] # c\n',
    [remove(['a', 0]), remove(['a', 1])],
    'a: [y] # c\n',
  ],
  ['removes the only flow element', 'a: { x: 1 } # c\n', remove(['a', 'x']), 'a: {} # c\n'],
  [
    'removes a line of a flow list',
    'a: [\n  x, # 1\n  # 2\n  y # 3\n] # 4\n',
    remove(['a', 1]),
    'a: [\n  x # 1\n  # 2\n] # 4\n',
  ],
  [
    'removes from a wrapped flow list',
    'a: [w, x, # 1\n    y]\n',
    [remove(['a', 2]), remove(['a', 1])],
    'a: [w # 1\n    ]\n',
  ],
  ['removes an explicit key', '? a\n: 1\n? b\n: 2\n', remove(['a']), '? b\n: 2\n'],
  ['removes an alias', 'a: &x 1\nb: *x\n', remove(['b']), 'a: &x 1\n'],
]

const ANCHORS: Case[] = [
  ['reads an anchor on a key', '&x a: 1\nb: *x\n', set(['b'], 2), '&x a: 1\nb: 2\n'],
  [
    'edits below an alias at the anchor',
    'a: &x\n  k: 1 # c\nb: *x\n',
    set(['b', 'k'], 2),
    'a: &x\n  k: 2 # c\nb: *x\n',
  ],
  ['appends below an alias at the anchor', 'a: &x [1]\nb: *x\n', append(['b'], 2), 'a: &x [1, 2]\nb: *x\n'],
  ['replaces an alias itself', 'a: &x [1]\nb: *x # c\n', set(['b'], 2), 'a: &x [1]\nb: 2 # c\n'],
  [
    'overrides a merged key',
    'a: &x\n  k: 1\nb:\n  <<: *x\n',
    set(['b', 'k'], 2),
    'a: &x\n  k: 1\nb:\n  <<: *x\n  k: 2\n',
  ],
  [
    'edits the source of a merge',
    'a: &x {k: 1}\nb: {<<: *x}\n',
    set(['a', 'k'], 2),
    'a: &x {k: 2}\nb: {<<: *x}\n',
  ],
]

for (const [sentence, before, changes, after] of [
  ...FILES,
  ...INSERTS,
  ...REPLACEMENTS,
  ...REMOVALS,
  ...ANCHORS,
]) {
  test(sentence, () => {
    expect(editText(before, 'yaml', [changes].flat())).toBe(after)
  })
}

test('gives a file with comments everywhere back with one key less and one more', () => {
  const before = `# compose
services:   # all of them
  web:	# the web
    <<: *base
    ports: ["80:80", '443:443']   # ports
    command: ["sh", "-c",
              "echo hi, there",   # inner
              "x"]
    environment:
      - A=1
      # - B=2
    # healthcheck: none

  # about db
  db:
    volumes:
    - type: bind   # bind
      source: ./x

    - {type: tmpfs, target: /t}
`
  const file = `x: &base {restart: always}\n${before}`
  const changes = [
    remove(['services', 'web', 'ports']),
    append(['services', 'web', 'command'], 'y'),
    append(['services', 'web', 'environment'], 'C=3'),
    set(['services', 'db', 'volumes', 0, 'target'], '/x'),
  ]
  const after = file
    .replace(/ {4}ports.*\n/, '')
    .replace('"x"]', '"x",\n              y]')
    .replace('- A=1\n', '- A=1\n      - C=3\n')
    .replace('source: ./x\n', 'source: ./x\n      target: /x\n')
  expect(editText(file, 'yaml', changes)).toBe(after)
})
