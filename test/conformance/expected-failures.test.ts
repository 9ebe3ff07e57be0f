import { expect, test } from 'vitest'
import { surprises } from './expected-failures.ts'
import type { Outcome } from './runner.ts'

test('surprises name what fails unlisted, passes though listed, or was never run', () => {
  const outcome = (scenario: string, passed: boolean, scored = true): Outcome => ({
    scenario,
    scored,
    passed,
    failures: passed ? [] : ['why'],
    warnings: [],
  })
  const outcomes = [outcome('a', true), outcome('b', false), outcome('c', true), outcome('d', false)]
  const expected = { c: 'later', d: 'later', e: 'later' }
  expect(surprises([...outcomes, outcome('f', false, false)], expected)).toEqual([
    'b fails: why',
    'c passes now: take it off the list (later)',
    'e is listed and was not run',
  ])
})
