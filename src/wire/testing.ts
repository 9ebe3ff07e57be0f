// JSON as texts, for property tests: every way to write the same thing, which values made by JSON.stringify never show.

import fc from 'fast-check'

export const space: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.constant('') },
  { weight: 1, arbitrary: fc.constantFrom(' ', '\t', '\n', '\r', '\r\n', '  \t ') },
)

const fourSpaces: fc.Arbitrary<string[]> = fc.array(space, { minLength: 4, maxLength: 4 })

export const number: fc.Arbitrary<string> = fc.constantFrom(
  ...['0', '-0', '7', '-12', '1.0', '0.50', '1e5', '1E+5', '2e-3', '-1.25e10', '1e400', '-1e-400'],
  ...['12345678901234567891', '9007199254740993', '123456789012345', '1234567890123456'],
)

/** The inside of a string: letters, escapes, what looks like JSON, and characters of every length. */
const inside = fc
  .array(
    fc.constantFrom(
      ...['a', 'id', 'é', '漢', '😀', '\u2028', '\u007f', ' ', ',', ':', '{', '}', '[', ']', '/', '0'],
      ...['\\"', '\\\\', '\\/', '\\n', '\\u0041', '\\ud83d\\ude00', '\\uD800', '\\"id\\":9,', ',\\"id\\":9}'],
    ),
    { maxLength: 5 },
  )
  .map((parts) => parts.join(''))
const string: fc.Arbitrary<string> = inside.map((text) => `"${text}"`)

const { value, object } = fc.letrec<{ value: string; object: string; array: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthIdentifier: 'json' },
    fc.oneof(number, string, fc.constantFrom('true', 'false', 'null')),
    tie('object'),
    tie('array'),
  ),
  object: listOf(
    fc.tuple(fc.oneof(string, fc.constant('"id"')), tie('value')).map(([key, it]) => [key, it] as const),
  ).map(({ items, spaces }) => objectText(items, spaces)),
  array: listOf(tie('value')).map(
    ({ items, spaces: [a = '', b = ''] }) => `[${a}${items.join(`${b},${a}`)}${b}]`,
  ),
}))

/** Any JSON value, written in any way. */
export const jsonText: fc.Arbitrary<string> = value
/** Any JSON object, with keys that may come twice. */
export const objectJson: fc.Arbitrary<string> = object

/** Members as one object; the four spaces go around keys and values. */
function objectText(members: readonly (readonly [string, string])[], spaces: readonly string[]): string {
  const [a = '', b = '', c = '', d = ''] = spaces
  if (members.length === 0) return `{${a}}`
  return `{${members.map(([key, it]) => `${a}${key}${b}:${c}${it}${d}`).join(',')}}`
}

/** The text with one change in it: something taken out, put in or replaced, or the end cut off. */
export function mutated(text: string, { at, take, put }: Mutation): string {
  const index = Math.floor(at * (text.length + 1))
  return text.slice(0, index) + put + text.slice(index + take)
}

interface Mutation {
  /** Where, from 0 to 1. */
  readonly at: number
  readonly take: number
  readonly put: string
}

const BREAKERS = [
  ...[
    '',
    '',
    '',
    '"',
    '\\',
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    ' ',
    '0',
    '-',
    '.',
    'e',
    '+',
    '1',
    'null',
    'tru',
    "'",
  ],
  ...[
    '\0',
    '\u0001',
    '\n',
    '\t',
    '\u001f',
    '\ufeff',
    '\u00a0',
    '\v',
    '\u2028',
    '\\u12',
    '\\x',
    '//',
    '/**/',
    'NaN',
  ],
  ...['"id":8,', ',"id":9', '"result":{},', ',,', '01', '.5', '5.', '\\"', '}}', '"\\u0069d":7,'],
]

export const mutation: fc.Arbitrary<Mutation> = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  take: fc.constantFrom(0, 0, 1, 1, 2, 5, 1_000_000),
  put: fc.constantFrom(...BREAKERS),
})

type Members = readonly (readonly [string, string])[]

const idKey = fc.constantFrom('"id"', '"id"', '"id"', '"\\u0069d"')
const idValue = fc.oneof(
  fc.nat().map(String),
  number,
  string,
  fc.constantFrom(
    '1',
    '7',
    '"a-1"',
    '"id"',
    '"1"',
    '""',
    '07',
    'null',
    'true',
    '{"id":3}',
    '[4]',
    '"{\\"id\\":5}"',
  ),
)
const version = fc.constantFrom('"2.0"', '"2.0"', '"2.0"', '"2.0"', '"2.0"', '"2\\u002e0"', '"1.0"', '2.0')
const body = fc.oneof(
  object,
  fc.constantFrom('{"id":6}', '{"a":[{"id":6}]}', '{"text":"\\",\\"id\\":6}"}', '[6]', '6'),
)

const usual = fc
  .record({ id: idValue, body, kind: fc.constantFrom('result', 'result', 'error', 'params'), version })
  .chain(({ id, body, kind, version }): fc.Arbitrary<Members> => {
    const versionMember = ['"jsonrpc"', version] as const
    const idMember = ['"id"', id] as const
    const content: Members = [
      ...(kind === 'params' ? [['"method"', '"tools/call"'] as const] : []),
      [`"${kind}"`, body],
    ]
    const all = [versionMember, idMember, ...content]
    return fc.oneof(
      // As nearly all servers write it, and then in any order.
      fc.constantFrom(all, [...content, versionMember, idMember]),
      fc.shuffledSubarray(all, { minLength: all.length - 1 }),
    )
  })
const extra = fc.oneof(
  fc.tuple(idKey, idValue),
  fc.tuple(
    fc.constantFrom('"jsonrpc"', '"result"', '"error"', '"method"', '"params"', '"x"', '"\\u0072esult"'),
    value,
  ),
  fc.tuple(fc.constant('"method"'), string),
)

/** JSON-RPC messages as their members, in any order; some have too much, too little, or an id that is no JSON. */
const envelope: fc.Arbitrary<Members> = fc
  .tuple(usual, fc.array(extra, { maxLength: 1 }), fc.double({ min: 0, max: 1, noNaN: true }))
  .map(([members, extras, at]) => members.toSpliced(Math.floor(at * (members.length + 1)), 0, ...extras))

/** A message as text. Mostly without a space in it, as servers write. */
export const messageText: fc.Arbitrary<string> = fc
  .tuple(envelope, fc.oneof(fc.constant([]), fc.constant([]), fourSpaces), space)
  .map(([members, spaces, end]) => objectText(members, spaces) + end)

/** The bytes in pieces, cut anywhere. */
export function pieces(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const at = cuts.map((cut) => Math.floor(cut * (bytes.length + 1))).sort((a, b) => a - b)
  return [...at, bytes.length].map((end, index) => bytes.subarray(at[index - 1] ?? 0, end))
}

export const cuts: fc.Arbitrary<number[]> = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), {
  maxLength: 8,
})

// --- internal ---

function listOf<T>(item: fc.Arbitrary<T>): fc.Arbitrary<{ items: T[]; spaces: string[] }> {
  return fc.record({
    items: fc.array(item, { maxLength: 4, depthIdentifier: 'json' }),
    spaces: fourSpaces,
  })
}
