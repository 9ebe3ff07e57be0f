import { expect, test } from 'vitest'
import type { Challenge } from './challenge.ts'
import { scopeFor } from './sign-in.ts'

interface Case {
  readonly what: string
  readonly written?: string[]
  readonly challenge?: Omit<Challenge, 'scheme'>
  readonly described?: string[]
  readonly supported?: string[]
  readonly more?: string
  readonly before?: string
  readonly asked: string | undefined
}

const CASES: Case[] = [
  { what: 'nothing is said', asked: undefined },
  { what: 'the server describes them', described: ['a', 'b'], asked: 'a b' },
  { what: 'the refusal names them', challenge: { scope: 'c' }, described: ['a'], asked: 'c' },
  { what: 'a person wrote them', written: ['w'], challenge: { scope: 'c' }, described: ['a'], asked: 'w' },
  { what: 'a person wrote that there are none', written: [], challenge: { scope: 'c' }, asked: undefined },
  { what: 'signing in again asks for no more than usual', described: ['a'], before: 'a b', asked: 'a' },
  {
    what: 'more is wanted, and nothing is lost',
    challenge: { error: 'insufficient_scope', scope: 'c' },
    described: ['a'],
    before: 'a b',
    asked: 'c a b',
  },
  {
    what: 'more is wanted than a person wrote',
    written: ['w'],
    challenge: { error: 'insufficient_scope', scope: 'c' },
    before: 'w',
    asked: 'w c',
  },
  { what: 'a person asks for more', described: ['a'], more: 'm  n', before: 'b', asked: 'a b m n' },
  { what: 'each only once', described: ['a', 'a'], more: 'a', before: 'a', asked: 'a' },
  { what: 'renewal is offered', described: ['a'], supported: ['offline_access'], asked: 'a offline_access' },
  { what: 'renewal alone is not asked for', supported: ['offline_access'], asked: undefined },
]

for (const { what, written, challenge, described = [], supported, more, before, asked } of CASES)
  test(`rights to ask for: ${what} [C6]`, () => {
    const metadata = {
      issuer: 'https://login.example.com',
      authorization_endpoint: 'https://login.example.com/authorize',
      token_endpoint: 'https://login.example.com/token',
      response_types_supported: ['code'],
      ...(supported && { scopes_supported: supported }),
    }
    const said = challenge && { scheme: 'bearer' as const, ...challenge }
    expect(scopeFor({ scopes: written }, said, { scopes: described, metadata }, { more, before })).toBe(asked)
  })
