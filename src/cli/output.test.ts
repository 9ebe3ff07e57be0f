import fc from 'fast-check'
import { expect, test } from 'vitest'
import { safe, safeJson } from './output.ts'

const UNSEEN = {
  'combining grapheme joiner': '\u034f',
  'hangul filler': '\u3164',
  'hangul choseong filler': '\u115f',
  'half-width filler': '\uffa0',
  'variation selector': '\ufe00',
  'supplementary variation selector': '\u{e0100}',
  'mongolian vowel separator': '\u180b',
  'braille blank': '\u2800',
  'zero width space': '\u200b',
  tag: '\u{e0041}',
  escape: '\u001b',
  'right to left': '\u202e',
  'private use': '\ue000',
}

test.each(Object.entries(UNSEEN))('[D11] a %s is shown by its number', (_, character) => {
  const code = character.codePointAt(0)?.toString(16)
  expect(safe(`pay${character}ments`)).toBe(`pay\\u{${code}}ments`)
  const json = safeJson(JSON.stringify({ text: character }))
  expect(json).not.toContain(character)
  expect(JSON.parse(json)).toEqual({ text: character })
})

test('[D11] the selector of a picture stays with its picture, and is shown anywhere else', () => {
  for (const honest of ['❤️', '⚠️ careful', '1️⃣', 'näive ✓ 日本語']) expect(safe(honest)).toBe(honest)
  expect(safe('a\ufe0fb')).toBe('a\\u{fe0f}b')
  expect(safe('1\ufe0f00')).toBe('1\\u{fe0f}00')
  expect(safe('❤\ufe0f\ufe0f')).toBe('❤\ufe0f\\u{fe0f}')
})

test('[D11] JSON stays the same value, and no text has anything unseen left', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(JSON.parse(safeJson(JSON.stringify({ text })))).toEqual({ text })
      expect(safe(text).replace(/[\n\t]|\ufe0f/g, '')).not.toMatch(
        /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/u,
      )
    }),
  )
})
