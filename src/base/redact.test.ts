import { expect, test } from 'vitest'
import { MASK, scrubber } from './redact.ts'

test('a known secret is taken out in whatever form it comes back', () => {
  const scrub = scrubber(['p@ss word/1"', 'short'])
  const forms = [
    'p@ss word/1"',
    encodeURIComponent('p@ss word/1"'),
    Buffer.from('p@ss word/1"').toString('base64'),
    'p@ss word/1\\"',
  ]
  for (const form of forms) expect(scrub(`before ${form} after`)).toBe(`before ${MASK} after`)
  expect(scrub('short')).toBe('short')
})

test('one secret that begins like another does not leave its end', () => {
  expect(scrubber(['secret-1', 'secret-1-long'])('secret-1-long')).toBe(MASK)
})
