import { expect, test } from 'vitest'
import { isHostAllowed, isLoopback, isOriginAllowed } from './guard.ts'

for (const host of ['localhost', 'localhost:4747', '127.0.0.1:1', '[::1]:4747', 'LOCALHOST'])
  test(`${host} is this machine`, () => {
    expect(isHostAllowed(host, [])).toBe(true)
  })

for (const host of [
  undefined,
  '',
  'evil.example.com',
  'localhost.evil.com',
  '127.0.0.1.evil.com:80',
  'localhost:1:2',
])
  test(`the host ${host} is refused`, () => {
    expect(isHostAllowed(host, [])).toBe(false)
  })

test('further hosts are those that are listed', () => {
  expect(isHostAllowed('gate.example.com:4747', ['gate.example.com'])).toBe(true)
  expect(isHostAllowed('other.example.com', ['gate.example.com'])).toBe(false)
})

test('a program has no origin, a page must have ours', () => {
  expect(isOriginAllowed(undefined, [])).toBe(true)
  expect(isOriginAllowed('http://localhost:3000', [])).toBe(true)
  for (const origin of [
    'null',
    'http://evil.example.com',
    'file://',
    'http://localhost.evil.com',
    'chrome-extension://x',
    '',
  ])
    expect([origin, isOriginAllowed(origin, [])]).toEqual([origin, false])
})

test('only loopback is reached from this machine alone', () => {
  expect(['127.0.0.1', '127.8.8.8', 'localhost', '::1'].every(isLoopback)).toBe(true)
  expect(['0.0.0.0', '::', '192.168.1.2'].some(isLoopback)).toBe(false)
})
