import { expect, test } from 'vitest'
import { excerptOf } from './excerpt.ts'
import { MASK, scrubber } from './redact.ts'

const SECRET = 'S3cretValue-of-which-no-part-may-be-seen'
const mask = scrubber([SECRET])

test('a secret at the cut is masked as a whole, wherever the cut goes through it [C11]', () => {
  for (let before = 0; before < 80; before++) {
    const shown = excerptOf(`${'x'.repeat(before)}${SECRET}${'y'.repeat(100)}`, { most: 40, mask })
    expect(shown).toBe(`${'x'.repeat(before)}${MASK}${'y'.repeat(100)}`.slice(0, 40).concat('…'))
  }
})

test('masks do not bring half a secret near that stands where reading ended [C11]', () => {
  const long = `${SECRET} `.repeat(2000)
  expect(excerptOf(long, { most: 120, mask })).not.toContain('S3')
  for (let length = 1; length < 2 * SECRET.length; length++)
    expect(excerptOf(long.slice(0, length), { most: 120, mask, isPart: true })).not.toContain('S3')
})

test('a short text stays as it is', () => {
  expect(excerptOf('short', { most: 5, mask })).toBe('short')
  expect(excerptOf('longer', { most: 5, mask })).toBe('longe…')
})
