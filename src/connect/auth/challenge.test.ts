import { expect, test } from 'vitest'
import { challengeIn } from './challenge.ts'

const CASES: [string, string | undefined, ReturnType<typeof challengeIn>][] = [
  ['there is none', undefined, undefined],
  ['it is empty', '', undefined],
  ['another scheme is no challenge of ours', 'Basic realm="x", charset="UTF-8"', undefined],
  ['a bare scheme', 'Bearer', { scheme: 'bearer' }],
  ['whatever its case', 'BEARER SCOPE="a"', { scheme: 'bearer', scope: 'a' }],
  [
    'everything it may say',
    'Bearer error="invalid_token", error_description="it is over", scope="a b", resource_metadata="https://x.example/.well-known/y"',
    {
      scheme: 'bearer',
      error: 'invalid_token',
      scope: 'a b',
      resourceMetadata: 'https://x.example/.well-known/y',
    },
  ],
  [
    'values without quotes',
    'Bearer error=invalid_token, scope=a',
    { scheme: 'bearer', error: 'invalid_token', scope: 'a' },
  ],
  ['spaces around the sign', 'Bearer scope = "a"', { scheme: 'bearer', scope: 'a' }],
  ['escapes within quotes', 'Bearer scope="a\\"b\\\\c"', { scheme: 'bearer', scope: 'a"b\\c' }],
  [
    'a comma within quotes ends nothing',
    'Bearer scope="a, DPoP", error="x"',
    { scheme: 'bearer', scope: 'a, DPoP', error: 'x' },
  ],
  ['an empty value says nothing', 'Bearer scope="", error=', { scheme: 'bearer' }],
  ['behind another scheme', 'Basic realm="x", Bearer scope="a"', { scheme: 'bearer', scope: 'a' }],
  [
    'before another scheme, whose words are not its own',
    'Bearer scope="a", Basic realm="x", error="y"',
    { scheme: 'bearer', scope: 'a' },
  ],
  [
    'the bound token is wanted where both are',
    'Bearer scope="a", DPoP algs="ES256", scope="b"',
    { scheme: 'dpop', scope: 'b' },
  ],
  ['two of a kind: the first', 'Bearer scope="a", Bearer scope="b"', { scheme: 'bearer', scope: 'a' }],
  [
    'words before any scheme belong to nobody',
    'scope="a", Bearer error="b"',
    { scheme: 'bearer', error: 'b' },
  ],
  ['a quote that never ends', 'Bearer scope="a', { scheme: 'bearer' }],
  ['nonsense', '=,;;"\\", ===', undefined],
]

for (const [what, header, expected] of CASES)
  test(`a challenge: ${what} [C6]`, () => {
    const found = challengeIn(header)
    // Whether an absent value is there as undefined does not matter.
    expect(found).toEqual(expected)
  })

test('a header of a megabyte is read in no time, and only its beginning counts [C6]', () => {
  expect(challengeIn(`Bearer scope="a", x="${'y'.repeat(1_000_000)}", error="late"`)).toEqual({
    scheme: 'bearer',
    scope: 'a',
  })
  // What patterns that go back and forth would take hours for.
  for (const part of ['"', '\\"', 'a="', 'a=\\', ' = ', 'Bearer ', '"\\'])
    challengeIn(part.repeat(1_000_000 / part.length))
})
