import fc from 'fast-check'
import { expect, test } from 'vitest'
import { matchesGlob } from './glob.ts'

test('matches whole names with * and ?', () => {
  expect(matchesGlob('delete_*', 'delete_repo')).toBe(true)
  expect(matchesGlob('delete_*', 'undelete_repo')).toBe(false)
  expect(matchesGlob('*', '')).toBe(true)
  expect(matchesGlob('g?t', 'get')).toBe(true)
  expect(matchesGlob('g?t', 'gt')).toBe(false)
  expect(matchesGlob('a.b', 'axb')).toBe(false)
  expect(matchesGlob('*a*a*a*a*a*a*a*a*b', 'a'.repeat(5000))).toBe(false)
})

test('agrees with the regular expression of the same meaning', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 8 })
  const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '*', '?'), maxLength: 6 })
  fc.assert(
    fc.property(pattern, letters, (glob, name) => {
      const expression = new RegExp(`^${glob.replaceAll('*', '.*').replaceAll('?', '.')}$`)
      expect(matchesGlob(glob, name)).toBe(expression.test(name))
    }),
    { numRuns: 1000 },
  )
})
