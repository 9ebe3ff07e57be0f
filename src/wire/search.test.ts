import fc from 'fast-check'
import { expect, test } from 'vitest'
import { holds } from './search.ts'

const WORDS = ['"isError"', '"input_required"', '\\u00', '"uri"', '"taskId"', 'x', 'aa', '"']

test('finds what a plain search finds, wherever it stands', () => {
  const piece = fc.oneof(
    fc.constantFrom(...WORDS),
    fc.constantFrom(...WORDS).chain((word) => fc.nat(word.length).map((at) => word.slice(at))),
    fc.string({ unit: 'binary', maxLength: 8 }),
  )
  fc.assert(
    fc.property(fc.array(piece), fc.constantFrom(...WORDS), (pieces, word) => {
      const bytes = Buffer.from(pieces.join(''))
      expect(holds(bytes, word)).toBe(bytes.includes(word))
    }),
  )
})

test('finds a word at either end, and not its end alone', () => {
  for (const word of WORDS) {
    expect(holds(Buffer.from(`${word} and more`), word)).toBe(true)
    expect(holds(Buffer.from(`something ${word}`), word)).toBe(true)
    expect(holds(Buffer.from(''), word)).toBe(false)
    if (word.length > 1) expect(holds(Buffer.from(word.slice(1)), word)).toBe(false)
  }
})
