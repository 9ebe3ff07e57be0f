import { expect, test } from 'vitest'
import { checkExposure, isHostAllowed, isLoopback, isOriginAllowed, wrongName } from './guard.ts'

for (const host of [
  'localhost',
  'localhost:4747',
  '127.0.0.1:1',
  '[::1]:4747',
  '[::1]',
  'LOCALHOST',
  '127.8.8.8:1',
])
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
  '0.0.0.0:4747',
  '0',
  '2130706433',
  '127.1',
  '127.evil.example',
  'localhost.',
  '::1',
  '[::ffff:127.0.0.1]',
  'localhost@evil.example',
  'localhost, evil.example',
  ' localhost',
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
    'http://127.0.0.1.evil.example',
    'http://localhost, http://evil.example',
    'http://evil.example, http://localhost',
    'http://evil.example#localhost',
    'http://evil.example\\@localhost',
    'localhost',
    '//localhost',
    'chrome-extension://x',
    '',
  ])
    expect([origin, isOriginAllowed(origin, [])]).toEqual([origin, false])
})

test('who comes by a wrong name is told which, cleaned and cut, and where names are allowed', () => {
  const host = 'localhost:4747'
  expect(wrongName({ host }, [])).toBeUndefined()
  expect(wrongName({ host, origin: 'http://localhost:3000' }, [])).toBeUndefined()
  expect(
    wrongName({ host: 'gate.example', origin: 'https://gate.example' }, ['gate.example']),
  ).toBeUndefined()
  const rule = 'is not allowed: it is neither loopback nor listed in gateway.allowedHosts'
  expect(wrongName({ host: 'gate.example:80' }, [])).toBe(`the Host "gate.example:80" ${rule}`)
  expect(wrongName({ host, origin: 'null' }, [])).toBe(`the Origin "null" ${rule}`)
  expect(wrongName({}, [])).toBe(`the Host "" ${rule}`)
  expect(wrongName({ host: '\u009b2J\t"evil\u00fc' }, [])).toBe(`the Host "?2J?\\"evil?" ${rule}`)
  expect(wrongName({ host: 'x'.repeat(5000) }, [])).toBe(`the Host "${'x'.repeat(100)}…" ${rule}`)
})

test('only loopback is reached from this machine alone', () => {
  expect(['127.0.0.1', '127.8.8.8', 'localhost', '::1'].every(isLoopback)).toBe(true)
  expect(['0.0.0.0', '::', '192.168.1.2'].some(isLoopback)).toBe(false)
})

test('a name that begins like loopback is none', () => {
  expect(['127.evil.example', '127.0.0.1.evil.example', 'localhost.evil.example'].some(isLoopback)).toBe(
    false,
  )
})

test('what other machines can reach needs names, and a token for every agent', () => {
  const agents = { enabled: ['ada', 'bob'], withToken: ['ada'] }
  const reason = (host: string, allowed: string[], of = agents) => {
    try {
      checkExposure(host, allowed, of)
      return undefined
    } catch (error) {
      return String(error)
    }
  }
  expect(reason('::1', [])).toBeUndefined()
  expect(reason('0.0.0.0', [])).toContain('other machines')
  expect(reason('0.0.0.0', ['gate.example'])).toContain('no token: bob')
  expect(reason('::', ['gate.example'], { ...agents, withToken: ['bob', 'ada'] })).toBeUndefined()
})
