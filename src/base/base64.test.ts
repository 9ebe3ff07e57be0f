import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fromBase64 } from './base64.ts'

test('bytes are read as they were written, however', () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      const sound = Buffer.from(bytes)
      const padded = sound.toString('base64')
      const ways = [padded, padded.replace(/=+$/, ''), sound.toString('base64url')]
      for (const text of [...ways, `${padded.replace(/.{4}/g, '$&\n')}\n`])
        expect(fromBase64(text)).toEqual(sound)
    }),
  )
})

for (const text of [
  'no base64!',
  'é',
  'A',
  'AAAAA',
  'AA=',
  'AAA==',
  'AA=A',
  '=',
  'AAAA====',
  undefined,
  5,
  null,
])
  test(`${JSON.stringify(text)} is none`, () => {
    expect(fromBase64(text)).toBeUndefined()
  })
