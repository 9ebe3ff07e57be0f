import { expect, test } from 'vitest'
import { Recent } from './recent.ts'

test('remembers the latest names, as many as there is room for', () => {
  const recent = new Recent(2)
  for (const name of ['a', 'b', 'a', 'c']) recent.add(name)
  expect(['a', 'b', 'c'].filter((name) => recent.has(name))).toEqual(['a', 'c'])
  recent.delete('a')
  expect(recent.has('a')).toBe(false)
})
