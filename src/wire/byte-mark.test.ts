import { expect, test } from 'vitest'
import { withoutMark } from './byte-mark.ts'

for (const [text, rest] of [
  ['\ufeff{"a":1}', '{"a":1}'],
  ['{"a":1}', '{"a":1}'],
  ['\ufeff', ''],
  ['', ''],
  ['\ufeff\ufeff{', '\ufeff{'],
  ['ﻣ', 'ﻣ'],
] as const)
  test(`the mark before ${JSON.stringify(text)} is left out`, () => {
    expect(withoutMark(Buffer.from(text)).toString()).toBe(rest)
  })
