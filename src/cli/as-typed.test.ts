import { expect, test } from 'vitest'
import { asTyped } from './as-typed.ts'

test('commands are told as they can be typed, and nothing else is changed', () => {
  const text = 'ada asks for a/b: busbar approve list; (run: busbar trust) my-busbar is up, Busbar too'
  expect(asTyped(text, undefined)).toBe(text)
  expect(asTyped(text, "'/my home/busbar'")).toBe(
    "ada asks for a/b: '/my home/busbar' approve list; (run: '/my home/busbar' trust) my-busbar is up, Busbar too",
  )
})
