import { expect, test } from 'vitest'
import { Deadlines } from './deadlines.ts'

const QUESTION = { id: 'q', createdAt: 1_000_000, expiresAt: 1_900_000 }
const DAY = 24 * 3_600_000

function clocks(start: number) {
  const at = { wall: start, monotonic: 5 }
  const deadlines = new Deadlines(
    () => at.wall,
    () => at.monotonic,
  )
  const pass = (milliseconds: number) => {
    at.wall += milliseconds
    at.monotonic += milliseconds
  }
  return { at, deadlines, pass }
}

test('[D11] a question lasts as long as it was given', () => {
  const { deadlines, pass } = clocks(QUESTION.createdAt)
  expect(deadlines.left(QUESTION)).toBe(900_000)
  pass(899_999)
  expect(deadlines.isOver(QUESTION)).toBe(false)
  pass(1)
  expect(deadlines.isOver(QUESTION)).toBe(true)
})

test('[D11] a clock that is set back a day gives no question more time, and one set ahead ends it', () => {
  const { at, deadlines, pass } = clocks(QUESTION.createdAt)
  expect(deadlines.left(QUESTION)).toBe(900_000)
  at.wall -= DAY
  expect(deadlines.left(QUESTION)).toBe(900_000)
  pass(900_000)
  expect(deadlines.isOver(QUESTION)).toBe(true)
  at.wall += 3 * DAY
  expect(deadlines.isOver({ ...QUESTION, id: 'other' })).toBe(true)
})

test('[D11] one that was put while the clock was a day ahead has no more than its time when it is first seen', () => {
  const { deadlines } = clocks(QUESTION.createdAt - DAY)
  expect(deadlines.left(QUESTION)).toBe(900_000)
})
