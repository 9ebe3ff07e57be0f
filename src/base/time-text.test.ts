import { expect, test } from 'vitest'
import { clockTime, leftText, waitText } from './time-text.ts'

const at = (hours: number, minutes: number, seconds: number) =>
  new Date(2026, 7, 31, hours, minutes, seconds).getTime()

test('[D7] a clock never shows a time at which it has not come yet', () => {
  expect(clockTime(at(22, 10, 0))).toBe('22:10')
  expect(clockTime(at(22, 10, 0) + 1)).toBe('22:11')
  expect(clockTime(at(22, 10, 54))).toBe('22:11')
  expect(clockTime(at(23, 59, 1))).toBe('00:00')
})

test('[D7] a wait is told as its unit has it, and never too short', () => {
  expect([1, 3000, 3001, 59_000].map(waitText)).toEqual(['1 s', '3 s', '4 s', '59 s'])
  expect([59_001, 60_001, 114_000, 7_200_000].map(waitText)).toEqual(['1 min', '2 min', '2 min', '2 h'])
})

test('[D11] what is left of a time is told to the second at its end', () => {
  expect([-5, 0, 3000, 89_000].map(leftText)).toEqual(['0 s', '0 s', '3 s', '89 s'])
  expect([90_000, 840_000, 899_990].map(leftText)).toEqual(['2 min', '14 min', '15 min'])
})
