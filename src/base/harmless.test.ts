import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isHarmless } from './harmless.ts'
import { isSecretName, isSecretValue, maskText } from './redact.ts'

const piece = fc.oneof(
  fc.constantFrom(
    ...[
      'api',
      'key',
      'Key',
      'auth',
      'Auth',
      'or',
      'pass',
      'PAT',
      'pat',
      'Pat',
      'h',
      's',
      'token',
      'Token',
      'dsn',
      'pwd',
    ],
    ...[
      'sig',
      'code',
      'secret',
      'cookie',
      'bearer',
      'credential',
      'signature',
      '_',
      '-',
      '=',
      '?',
      '&',
      ';',
      '#',
      '@',
    ],
    ...[
      ':',
      '://',
      '/',
      '.',
      ' ',
      '\n',
      '"',
      '\\',
      'http',
      'user',
      'ghp_',
      'sk-',
      'xoxb-',
      'AKIA',
      'AIza',
      'eyJ',
      'npm_',
    ],
    ...[
      'ntn_',
      'hf_',
      'lin_api_',
      'dop_v1_',
      'glpat-',
      'A1b2C3d4E5f6',
      'abcdefghijkl',
      '0123456789',
      'ABCDEFGHIJKLM',
    ],
    '-----BEGIN PRIVATE KEY-----',
  ),
  fc.string({ maxLength: 3 }),
)

test('what is harmless has nothing that would be masked', () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      const text = pieces.join('')
      // Of JSON that is harmless, each name and each text is.
      if (!isHarmless(text) && !isHarmless(JSON.stringify({ [text]: text }))) return
      expect(maskText(text), text).toBe(text)
      expect(isSecretValue(text), text).toBe(false)
      expect(isSecretName(text), text).toBe(false)
    }),
    { numRuns: 5000 },
  )
})

test.each([
  '{"owner":"acme","path":"/home/mia/src/index.ts","pattern":"*.ts","labels":["bug"],"n":12345}',
  'Created issue 42: the page is slow on phones; see https://acme.test/issues/42',
  'written by mia@acme.test in section #3',
])('ordinary text is harmless: %s', (text) => {
  expect(isHarmless(text)).toBe(true)
})

test.each(['{"my\\u0074oken":1}', 'postgres://mia:pw@host', 'myPatOld', 'https://a.test/#b=c', 'x?code=1'])(
  'this is not: %s',
  (text) => {
    expect(isHarmless(text)).toBe(false)
  },
)
