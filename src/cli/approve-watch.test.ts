import { expect, test } from 'vitest'
import { watchWord } from './approve-watch.ts'

const ALLOW = { decision: 'allow' }
const DENY = { decision: 'deny' }

test.each([
  ['a', ALLOW],
  ['allow', ALLOW],
  [' A ', ALLOW],
  ['t', { ...ALLOW, remember: 'tool' }],
  ['s', { ...ALLOW, remember: 'server' }],
  ['server', { ...ALLOW, remember: 'server' }],
  ['d', DENY],
  ['Deny', DENY],
  ['v', 'view'],
  ['k', 'keep'],
  ['?', 'help'],
])('[D11] %j is an answer', (typed, meant) => expect(watchWord(typed)).toEqual(meant))

test.each(['', 'skip', 'stop', 'abort', 'no', 'aa', 'as', 'allo', 'don’t', 'toString', '\u001b[A', 'а'])(
  '[D11] %j is none, though it may begin like one',
  (typed) => expect(watchWord(typed)).toBeUndefined(),
)
