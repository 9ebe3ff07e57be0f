// What a refusal says about the era of a server, and when it is asked about it.

import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Fault } from '../base/fault.ts'
import { type ErrorMessage, readMessage } from '../wire/message.ts'
import { EraDoubt, isStill, isUnread, mayBeOther, unread } from './other-era.ts'

const ID = 7

function errorMessage(code: number, message: string, id: unknown): { text: string; error: ErrorMessage } {
  const text = JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } })
  const error = readMessage(Buffer.from(text))
  if (error.kind !== 'error') throw new Error('not an error')
  return { text, error }
}

const REFUSALS: [isOther: boolean, status: number, given?: [code: number, message: string, id: unknown]][] = [
  // Without a message: by what stands in the way of a request.
  [true, 400],
  [true, 404],
  [true, 405],
  [true, 415],
  [false, 403],
  [false, 500],
  [false, 502],
  // Not to our request: it was not even read.
  [true, 400, [-32000, 'Bad Request: No valid session ID provided', null]],
  [true, 400, [-32600, 'Missing session ID', 'server-error']],
  [true, 404, [-32001, 'Session not found', null]],
  [false, 500, [-32603, 'Internal error', null]],
  // Words that only a modern server has.
  [false, 400, [-32020, 'Header mismatch', null]],
  [false, 400, [-32021, 'Missing capability', null]],
  // To our request: only what speaks of eras.
  [true, 400, [-32000, 'Bad Request: Server not initialized', ID]],
  [true, 400, [-32600, 'no session', String(ID)]],
  [true, 400, [-32022, 'Unsupported protocol version', ID]],
  [true, 200, [-32022, 'Unsupported protocol version', ID]],
  [false, 400, [-32000, 'the disk is full', ID]],
  [false, 404, [-32601, 'Method not found', ID]],
  [false, 400, [-32602, 'unknown session in the arguments', ID]],
]
for (const [isOther, status, given] of REFUSALS)
  test(`${status} ${given ? given.join(' ') : 'without a message'}: ${isOther ? 'may be another' : 'is the same'}`, () => {
    const { text, error } = given ? errorMessage(...given) : { text: '', error: undefined }
    expect(mayBeOther(status, text, error, ID)).toBe(isOther)
  })

test('a fault about what was not read says so, and stays what it is', () => {
  const fault = new Fault('SERVER_UNREACHABLE', 'no', { hint: 'look', details: { status: 400 } })
  expect(isUnread(fault)).toBe(false)
  const marked = unread(fault)
  expect(isUnread(marked)).toBe(true)
  expect(marked).toMatchObject({ code: 'SERVER_UNREACHABLE', message: 'no', hint: 'look' })
  expect(marked.details).toEqual({ status: 400, unread: true })
})

test('a server is still what it was if it says so, or fails in a way that says nothing', () => {
  const base = { era: 'modern', version: '2026-07-28', instructions: undefined } as const
  const known = { ...base, serverInfo: undefined, capabilities: { tools: {} } }
  const unknown = { ...base, serverInfo: undefined, capabilities: {} }
  const result = (value: object) => {
    const message = readMessage(Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, result: value })))
    if (message.kind !== 'result') throw new Error('not a result')
    return message
  }
  expect(isStill(result({ supportedVersions: ['2026-07-28'] }), known)).toBe(true)
  expect(isStill(result({}), known)).toBe(false)
  const error = (code: number, text = 'no') => errorMessage(code, text, 1).error
  expect([-32603, -32601, -32022].map((code) => isStill(error(code), known))).toEqual([true, false, false])
  for (const said of [
    'No valid session ID provided',
    'Server not initialized',
    'Unsupported protocol version',
  ])
    expect([said, isStill(error(-32000, said), known)]).toEqual([said, false])
  // What every server may say when it has enough to do.
  for (const said of ['rate limit exceeded', 'browser session 7 not found', ''])
    expect([said, isStill(error(-32000, said), known)]).toEqual([said, true])
  // Never knew the question.
  expect(isStill(error(-32601), unknown)).toBe(true)
})

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

test('a doubt is settled by one question for all, and the next one comes later and later', async () => {
  let asked = 0
  const givenUp: string[] = []
  let answer: () => Promise<boolean> = async () => true
  const doubt = new EraDoubt(
    'far',
    () => {
      asked += 1
      return answer()
    },
    ({ message }) => void givenUp.push(message),
  )
  expect(await Promise.all([doubt.raise(), doubt.raise()])).toEqual([false, false])
  expect([await doubt.raise(), asked]).toEqual([false, 1])
  vi.advanceTimersByTime(1_000)
  // Nothing is known then.
  answer = () => Promise.reject(new Error('late'))
  expect([await doubt.raise(), asked]).toEqual([false, 2])
  vi.advanceTimersByTime(1_999)
  expect([await doubt.raise(), asked]).toEqual([false, 2])
  vi.advanceTimersByTime(1)
  answer = async () => false
  expect(await Promise.all([doubt.raise(), doubt.raise()])).toEqual([true, true])
  expect([await doubt.raise(), asked, givenUp]).toEqual([
    true,
    3,
    ['far speaks another version of the protocol than before'],
  ])
})

test('who is refused in the same way when it asks says what it was told', async () => {
  const refused = unread(new Fault('SERVER_UNREACHABLE', 'far: host answered 404', { server: 'far' }))
  const given: Fault[] = []
  const doubt = new EraDoubt(
    'far',
    () => Promise.reject(refused),
    (fault) => void given.push(fault),
  )
  expect(await doubt.raise()).toBe(true)
  expect(given).toMatchObject([{ code: 'CONNECTION_LOST', message: 'far: host answered 404', server: 'far' }])
})
