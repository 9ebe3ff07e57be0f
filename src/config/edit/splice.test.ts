import { expect, test } from 'vitest'
import { insertion, lineEnd, lineStart, nextLine, previousLineEnd, spliced, startsLine } from './splice.ts'

test('applies splices by the offsets of the old text, whatever their order', () => {
  const splices = [
    { start: 4, end: 5, text: '' },
    insertion(1, 'x'),
    { start: 1, end: 2, text: 'y' },
    insertion(1, 'z'),
  ]
  expect(spliced('abcdef', splices)).toBe('axzycdf')
})

test('refuses splices that overlap', () => {
  expect(() => spliced('abc', [{ start: 0, end: 2, text: '' }, insertion(1, 'x')])).toThrow('overlap')
})

test('finds the edges of lines with either line break', () => {
  const text = '\na\r\n b\nc'
  expect([lineStart(text, 0), lineStart(text, 1), lineStart(text, 5), lineStart(text, 7)]).toEqual([
    0, 1, 4, 7,
  ])
  expect([lineEnd(text, 0), lineEnd(text, 1), lineEnd(text, 5), lineEnd(text, 7)]).toEqual([0, 2, 6, 8])
  expect([nextLine(text, 2), nextLine(text, 8)]).toEqual([4, 8])
  expect([previousLineEnd(text, 4), previousLineEnd(text, 7), previousLineEnd(text, 0)]).toEqual([2, 6, 0])
  expect([startsLine(text, 5), startsLine(text, 6)]).toEqual([true, false])
})
