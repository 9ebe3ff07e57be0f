import { expect, test } from 'vitest'
import { nearest } from './suggest.ts'

test('finds the name a person meant', () => {
  expect(nearest('githb', ['gitlab', 'github', 'linear'])).toBe('github')
  expect(nearest('gihtub', ['github', 'notion'])).toBe('github')
  expect(nearest('GitHub', ['github'])).toBe('github')
  expect(nearest('comand', ['command', 'cwd'])).toBe('command')
})

test('stays silent when nothing is near', () => {
  expect(nearest('postgres', ['github', 'linear'])).toBeUndefined()
  expect(nearest('x', ['ab', 'cd'])).toBeUndefined()
  expect(nearest('', ['github'])).toBeUndefined()
})
