import { expect, test } from 'vitest'
import { keyFor, seal, unseal } from './sealed.ts'

const key = keyFor('tests', 'a secret')

test('what was sealed is read again, and nothing else is', () => {
  const text = seal(['ada', 1, null], key)
  expect(unseal(text, key)).toEqual(['ada', 1, null])
  const [body = '', signature = ''] = text.split('.')
  const other = Buffer.from(JSON.stringify(['bob', 1, null])).toString('base64url')
  for (const forged of [
    '',
    '.',
    body,
    `${other}.${signature}`,
    `${body}.${signature.slice(1)}`,
    `${text}.x`,
    `${text}=`,
    `${'a'.repeat(5000)}.${signature}`,
    seal(['ada', 1, null], keyFor('something else', 'a secret')),
    seal(['ada', 1, null], keyFor('tests', 'another secret')),
  ])
    expect([forged, unseal(forged, key)]).toEqual([forged, undefined])
})
