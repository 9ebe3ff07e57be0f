import { expect, test } from 'vitest'
import { isKnownNotification, LEGACY_METHODS, LEGACY_VERSIONS, MODERN_VERSION, nameOfRequest } from './era.ts'

const cases: [string, Record<string, unknown>, string | undefined][] = [
  ['tools/call', { name: 'echo', uri: 'x:' }, 'echo'],
  ['prompts/get', { name: 'plan' }, 'plan'],
  ['resources/read', { name: 'no', uri: 'file:///a' }, 'file:///a'],
  ['tools/call', { name: '' }, ''],
  ['tools/call', {}, undefined],
  ['tools/call', { name: 7 }, undefined],
  ['resources/read', { name: 'no' }, undefined],
  ['tools/list', { name: 'no' }, undefined],
  ['tasks/get', { taskId: 't1', name: 'no' }, 't1'],
  ['tasks/update', { taskId: 't1', inputResponses: {} }, 't1'],
  ['tasks/cancel', { taskId: 't1' }, 't1'],
  ['tasks/get', { taskId: 1 }, undefined],
  ['tasks/result', { taskId: 't1' }, undefined],
  ['tasks/list', { taskId: 't1' }, undefined],
  ['resources/subscribe', { uri: 'file:///a' }, undefined],
]
for (const [method, params, expected] of cases)
  test(`${method} with ${JSON.stringify(params)} is about ${expected ?? 'nothing by name'}`, () => {
    expect(nameOfRequest(method, params)).toBe(expected)
  })

test('asks for the newest legacy version first, and the modern one is none of them', () => {
  expect([...LEGACY_VERSIONS].sort().reverse()).toEqual(LEGACY_VERSIONS)
  expect(LEGACY_VERSIONS).not.toContain(MODERN_VERSION)
  expect(LEGACY_METHODS.has('initialize')).toBe(true)
  expect(LEGACY_METHODS.has('server/discover')).toBe(false)
})

test('tells notifications of the protocol from those of somebody’s own', () => {
  for (const method of [
    'notifications/initialized',
    'notifications/cancelled',
    'notifications/tools/list_changed',
    'notifications/elicitation/complete',
    'notifications/subscriptions/acknowledged',
    'notifications/tasks',
    'notifications/tasks/status',
    'tools/call',
    'acme/thing',
  ])
    expect([method, isKnownNotification(method)]).toEqual([method, true])
  for (const method of [
    'notifications/acme/thing',
    'notifications/toolset',
    'notifications/messages',
    'notifications/',
  ])
    expect([method, isKnownNotification(method)]).toEqual([method, false])
})
