// The same failing call, again and again.

import { expect, test } from 'vitest'
import { type CallKey, LoopBreaker } from './loop-breaker.ts'

const KEY: CallKey = { agent: 'cto', server: 'github', tool: 'get', text: '{"a":1,"b":2}' }

function breaker() {
  const clock = { now: 0 }
  const loops = new LoopBreaker(() => clock.now)
  const fail = (times: number, more: Partial<CallKey> = {}, error = 'no issue 12\nat line 3') => {
    for (let index = 0; index < times; index++) loops.note({ ...KEY, ...more }, true, error)
  }
  return { clock, loops, fail }
}

test('a call that failed five times the same way is refused for a minute [D2]', () => {
  const { clock, loops, fail } = breaker()
  fail(4)
  expect(loops.check(KEY)).toBeUndefined()
  fail(1, { text: '{ "b": 2, "a": 1 }' }, 'no issue 13')
  expect(loops.check(KEY)).toMatchObject({
    code: 'LOOP_STOPPED',
    message: 'cto has made this call 5 times and it failed each time the same way: no issue 13',
    hint: expect.stringMatching(/^change the arguments of github\/get, or wait until \d\d:\d\d$/),
  })
  for (const other of [{ text: '{}' }, { agent: 'cfo' }, { tool: 'put' }, { server: 'gitlab' }])
    expect(loops.check({ ...KEY, ...other })).toBeUndefined()
  clock.now = 60_000
  expect(loops.check(KEY)).toBeUndefined()
  fail(1)
  expect(loops.check(KEY)?.message).toContain('6 times')
  clock.now += 600_000
  fail(4)
  expect(loops.check(KEY)).toBeUndefined()
})

test('a success of the tool, or another error, begins anew [D2]', () => {
  const { loops, fail } = breaker()
  fail(5)
  loops.note({ ...KEY, text: '{}' }, false)
  expect(loops.check(KEY)).toBeUndefined()
  fail(4)
  loops.note({ ...KEY, agent: 'cfo' }, false)
  fail(1)
  expect(loops.check(KEY)).toBeDefined()
  fail(1, {}, 'rate limited')
  expect(loops.check(KEY)).toBeUndefined()
  fail(4, {}, 'rate limited')
  expect(loops.check(KEY)?.message).toContain('5 times')
})

test('what fails in many ways is not remembered without end [D2]', () => {
  const { loops, fail } = breaker()
  fail(5)
  for (let index = 0; index < 64; index++) fail(1, { text: `[${index}]` })
  expect(loops.check(KEY)).toBeUndefined()
  fail(5, { tool: 'old' })
  for (let index = 0; index < 1000; index++) fail(1, { tool: `t${index}` })
  expect(loops.check({ ...KEY, tool: 'old' })).toBeUndefined()
  expect(loops.check({ ...KEY, text: 'no json' })).toBeUndefined()
})

test('numbers that only differ in digits beyond what data holds are other calls [D2]', () => {
  const { loops, fail } = breaker()
  fail(5, { text: '{"id":12345678901234567891}' })
  expect(loops.check({ ...KEY, text: '{ "id": 12345678901234567891 }' })?.code).toBe('LOOP_STOPPED')
  for (const text of ['{"id":12345678901234567000}', '{"id":12345678901234567890}', '{"id":1.0}'])
    expect(loops.check({ ...KEY, text })).toBeUndefined()
})

test('a loop over many calls is one as well, and so is one whose errors name each request [D2]', () => {
  const { loops, fail } = breaker()
  for (let round = 0; round < 5; round++)
    for (let index = 0; index < 40; index++) fail(1, { text: `[${index}]` })
  expect(loops.check({ ...KEY, text: '[39]' })?.code).toBe('LOOP_STOPPED')
  const errors = ['0b1f3c7e-5d1a-4c3f-9d6e-0a1b2c3d4e5f', 'a1b2c3d4e5f60718', '77', '9f86d081', 'c0ffee12']
  for (const id of errors) loops.note({ ...KEY, tool: 'ids' }, true, `upstream failed, request id ${id}`)
  expect(loops.check({ ...KEY, tool: 'ids' })?.code).toBe('LOOP_STOPPED')
  // Also where the id is any letters and digits, or has no digit by chance.
  for (const id of ['k3j9xqw', 'req_8zkq01', 'zz9PluralZ', 'qwkejrhq', 'Ab-9_xYz'])
    loops.note({ ...KEY, tool: 'any' }, true, `upstream failed (request ${id})`)
  expect(loops.check({ ...KEY, tool: 'any' })?.code).toBe('LOOP_STOPPED')
})
