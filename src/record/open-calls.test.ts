import { expect, test } from 'vitest'
import { OpenCall } from './line.ts'
import { OpenCalls } from './open-calls.ts'
import { call } from './testing.ts'

function three(): { calls: OpenCalls; a: OpenCall; b: OpenCall; c: OpenCall } {
  const calls = new OpenCalls()
  const [a, b, c] = [1, 2, 3].map((ticket) => new OpenCall(ticket, call(`${ticket}`)))
  if (!(a && b && c)) throw new Error('three')
  for (const one of [a, b, c]) calls.add(one)
  return { calls, a, b, c }
}

test('keeps calls in their order, and lets each go once', () => {
  const { calls, a, b, c } = three()
  expect(calls.all()).toEqual([a, b, c])
  expect([calls.remove(b), calls.remove(b)]).toEqual([true, false])
  expect(calls.all()).toEqual([a, c])
  expect([calls.remove(a), calls.remove(c)]).toEqual([true, true])
  expect([calls.size, calls.all()]).toEqual([0, []])
  calls.add(b)
  expect(calls.all()).toEqual([b])
})

test('a call that is gone holds no other', () => {
  const { calls, a, b, c } = three()
  for (const one of [b, a, c]) calls.remove(one)
  for (const one of [a, b, c]) expect([one.before, one.after]).toEqual([undefined, undefined])
})
