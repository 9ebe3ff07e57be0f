import { expect, test } from 'vitest'
import { uuid7 } from './uuid.ts'

test('ids are of version 7, different, and sort by when they were made', () => {
  const made = Array.from({ length: 20_000 }, () => uuid7())
  expect(new Set(made).size).toBe(made.length)
  expect(made.toSorted()).toEqual(made)
  expect(
    made.every((id) => /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id)),
  ).toBe(true)
})

test('a clock that goes back does not put a later id before an earlier one', () => {
  const ahead = uuid7(Date.now() + 60_000)
  expect(uuid7() > ahead).toBe(true)
})
