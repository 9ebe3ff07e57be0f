import { expect, test } from 'vitest'
import { type Grant, grantOf, isEnding, isExpired } from './grant.ts'

const REST = {
  server: 'https://mcp.example.com/',
  issuer: 'https://login.example.com',
  metadata: {
    issuer: 'https://login.example.com',
    authorization_endpoint: 'https://login.example.com/authorize',
    token_endpoint: 'https://login.example.com/token',
    response_types_supported: ['code'],
  },
  resource: undefined,
  client: { client_id: 'us' },
  key: undefined,
  scope: 'asked for',
}

function lasting(seconds: number | undefined): Grant {
  return { ...REST, access: 'a', isBound: false, obtained: 0, expires: seconds && seconds * 1000 }
}

/** Life in seconds, and the seconds at which it is ending and at which it is over. */
const CASES: [number, number, number][] = [
  [3600, 3540, 3599],
  [240, 180, 239],
  [60, 45, 59],
  [8, 6, 7],
  [2, 1.5, 1],
]

for (const [life, ending, over] of CASES)
  test(`a token for ${life} s is renewed after ${ending} s and not used after ${over} s [C6]`, () => {
    const grant = lasting(life)
    const states = (seconds: number) => [isEnding(grant, seconds * 1000), isExpired(grant, seconds * 1000)]
    expect([states(0), isEnding(grant, ending * 1000 - 1), isExpired(grant, over * 1000 - 1)]).toEqual([
      [false, false],
      false,
      false,
    ])
    expect([isEnding(grant, ending * 1000), isExpired(grant, over * 1000)]).toEqual([true, true])
  })

test('a token that says nothing of its end has none [C6]', () => {
  expect([isEnding(lasting(undefined), 1e15), isExpired(lasting(undefined), 1e15)]).toEqual([false, false])
})

test('a clock that was set back does not end a token [C6]', () => {
  expect([isEnding(lasting(3600), -1e9), isExpired(lasting(3600), -1e9)]).toEqual([false, false])
})

test('what is nonsense about the end of a token is not believed [C6]', () => {
  const made = (seconds: number | undefined) => {
    const tokens = {
      access_token: 'a',
      token_type: 'Bearer',
      ...(seconds !== undefined && { expires_in: seconds }),
    }
    const { obtained, expires } = grantOf(tokens, REST)
    return expires === undefined ? undefined : expires - obtained
  }
  expect([undefined, 0, -5, Number.NaN].map(made)).toEqual([undefined, undefined, undefined, undefined])
  expect([1, 3600, 1e12, Number.POSITIVE_INFINITY].map(made)).toEqual([
    1_000,
    3_600_000,
    366 * 24 * 3_600_000,
    366 * 24 * 3_600_000,
  ])
})

test('rights are what was asked for unless something else was said; a key is kept only with a bound token [C6]', () => {
  const key = { kty: 'EC' }
  const plain = grantOf({ access_token: 'a', token_type: 'bearer' }, { ...REST, key })
  expect([plain.scope, plain.isBound, plain.key]).toEqual(['asked for', false, undefined])
  const bound = grantOf({ access_token: 'a', token_type: 'DPoP', scope: 'less' }, { ...REST, key })
  expect([bound.scope, bound.isBound, bound.key]).toEqual(['less', true, key])
})
