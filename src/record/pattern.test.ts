// Errors that say the same of different things have one pattern.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { errorPattern } from './pattern.ts'

test.each([
  ['issue 12 not found', 'issue <number> not found'],
  ['took 1.5 s, -3 left, 1,024 bytes', 'took <number> s, <number> left, <number> bytes'],
  ['no file "a b.txt" in \'x\'', 'no file <text> in <text>'],
  ["can't open 'x', it isn't there", "can't open <text>, it isn't there"],
  ['`rm` failed', '<text> failed'],
  ['ENOENT: no such file, open /home/ann/.config/x.json', 'ENOENT: no such file, open <path>'],
  ['cannot read ./a/b or ~/c or ../d/', 'cannot read <path> or <path> or <path>'],
  ['C:\\Users\\ann\\x.txt is busy', '<path> is busy'],
  ['read/write and and/or stay', 'read/write and and/or stay'],
  ['GET https://api.example.com/v1/x?id=3 failed', 'GET <url> failed'],
  ['unknown user ann.b+c@mail.example.com!', 'unknown user <email>!'],
  ['session 0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b expired', 'session <id> expired'],
  ['at 2026-08-31T12:30:01.123Z and 2026-08-31', 'at <date> and <date>'],
  ['at 12:30:01', 'at <date>'],
  ['pointer 0xDEADBEEF, commit 9fceb02d0ae598e95dc970b74767f19372d61af8', 'pointer <hex>, commit <hex>'],
  ['request req_8fk3Kd92Lq failed', 'request <id> failed'],
  ['the defaced facade effaced', 'the defaced facade effaced'],
  ['  two\n lines\t\u0007 ', 'two lines'],
  ['', ''],
])('%j becomes %j', (message, pattern) => {
  expect(errorPattern(message)).toBe(pattern)
})

test('is bounded, whatever the message', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 400, unit: 'binary' }), (message) => {
      const pattern = errorPattern(message)
      expect(pattern.length).toBeLessThanOrEqual(200)
    }),
  )
  expect(errorPattern('x '.repeat(10_000))).toHaveLength(200)
})

test.each([
  'a',
  '1',
  'a1',
  '/',
  '/a',
  "'",
  '"',
  "'a ",
  '@',
  'a.',
  'a@',
  '-',
  '1:',
  '0x',
  'http://',
  '~/',
  ' ',
])('long runs of %j are no trouble', (part) => {
  // Fails by taking minutes: the whole text is read, a hundred times.
  for (let index = 0; index < 100; index++) errorPattern(part.repeat(100_000))
})
