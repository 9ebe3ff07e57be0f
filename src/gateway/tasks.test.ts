import { expect, test } from 'vitest'
import type { Caller } from '../call/own-instance.ts'
import type { Era } from '../wire/era.ts'
import { type ReplyMessage, readMessage } from '../wire/message.ts'
import { type RawParams, readParams } from '../wire/params.ts'
import { TaskBook } from './tasks.ts'

const ADA: Caller = { actor: { kind: 'agent', id: 'ada' } }
const BOB: Caller = { actor: { kind: 'agent', id: 'bob' } }

/** A book of servers that a test starts anew by another run. */
function bookOf(runs: Record<string, object>): TaskBook {
  return new TaskBook((server) => ({ instance: undefined, run: runs[server] }))
}

function answer(result: object): ReplyMessage {
  return readMessage(Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, result }))) as ReplyMessage
}

function started(era: Era, taskId: string, createdAt?: string): ReplyMessage {
  const task = { taskId, status: 'working', ...(createdAt && { createdAt }) }
  return answer(era === 'modern' ? { resultType: 'task', ...task } : { task })
}

function params(value: object): RawParams {
  return readParams(Buffer.from(JSON.stringify(value))) as RawParams
}

for (const era of ['legacy', 'modern'] as const) {
  test(`[C11] ${era}: a task that is started is the caller's, and unknown to anybody else`, () => {
    const book = bookOf({ one: {} })
    book.note(ADA, 'one', era, started(era, 't1'))
    const about = params({ taskId: 't1' })
    expect(() => book.check(ADA, 'one', 'tasks/get', about)).not.toThrow()
    expect(() => book.check(BOB, 'one', 'tasks/get', about)).toThrow('there is no task "t1"')
    expect(() => book.check(BOB, 'other', 'tasks/get', about)).not.toThrow()
  })

  test(`[C11] ${era}: an id that is given out by another run, or for a later task, is whose it is now`, () => {
    for (const next of ['run', 'time'] as const) {
      const runs = { one: {} }
      const book = bookOf(runs)
      book.note(ADA, 'one', era, started(era, 't1', 'then'))
      if (next === 'run') runs.one = {}
      book.note(BOB, 'one', era, started(era, 't1', next === 'run' ? 'then' : 'now'))
      expect([book.isOf(ADA, 'one', 't1'), book.isOf(BOB, 'one', 't1')]).toEqual([false, true])
    }
  })

  test(`[C11] ${era}: the same task is nobody else's for being given out twice`, () => {
    for (const createdAt of ['then', undefined]) {
      const book = bookOf({ one: {} })
      book.note(ADA, 'one', era, started(era, 't1', createdAt))
      book.note(BOB, 'one', era, started(era, 't1', createdAt))
      expect([book.isOf(ADA, 'one', 't1'), book.isOf(BOB, 'one', 't1')]).toEqual([true, false])
    }
  })
}

test('[C11] an answer that begins no task in the way of its era changes nothing', () => {
  const runs = { one: {} }
  const book = bookOf(runs)
  book.note(ADA, 'one', 'legacy', started('legacy', 't1'))
  book.note(ADA, 'one', 'modern', started('modern', 't2'))
  runs.one = {}
  const mentioned = { taskId: 't1', status: 'working' }
  book.note(BOB, 'one', 'legacy', answer(mentioned))
  book.note(BOB, 'one', 'legacy', answer({ tasks: [mentioned] }))
  book.note(BOB, 'one', 'legacy', answer({ structuredContent: { task: mentioned } }))
  book.note(BOB, 'one', 'modern', answer({ resultType: 'complete', ...mentioned, taskId: 't2' }))
  book.note(BOB, 'one', 'modern', answer({ task: { taskId: 't2' } }))
  expect([book.isOf(ADA, 'one', 't1'), book.isOf(ADA, 'one', 't2')]).toEqual([true, true])
})

test('[C11] an id that is no text is refused: a server may take it for one', () => {
  const book = bookOf({ one: {} })
  book.note(ADA, 'one', 'legacy', started('legacy', '1'))
  for (const taskId of [1, ['1'], { toString: '1' }, null])
    expect(() => book.check(BOB, 'one', 'tasks/get', params({ taskId }))).toThrow('there is no task')
  expect(() => book.check(BOB, 'one', 'tasks/list', params({}))).not.toThrow()
})

test('[C11] a task is of the one server that gave it, and of none where two did', () => {
  const runs = { one: {}, two: {} }
  const book = bookOf(runs)
  const serverOf = (caller: Caller) => book.serverOf(caller, ['one', 'two'], 't1')
  book.note(ADA, 'one', 'legacy', started('legacy', 't1'))
  expect([serverOf(ADA), serverOf(BOB)]).toEqual(['one', undefined])
  book.note(ADA, 'two', 'legacy', started('legacy', 't1'))
  expect(() => serverOf(ADA)).toThrow('one and two both have a task "t1"')
  // Who asks about the one that is gone is not given the other.
  runs.one = {}
  book.note(BOB, 'one', 'legacy', started('legacy', 't1'))
  expect(() => serverOf(ADA)).toThrow('both')
  expect([serverOf(BOB), book.isOf(ADA, 'one', 't1')]).toEqual(['one', false])
  book.note(BOB, 'two', 'legacy', started('legacy', 't2'))
  expect(book.serverOf(ADA, ['one', 'two'], 't2')).toBeUndefined()
})

test("[C11] nobody listens to somebody else's tasks, however the wish is written", () => {
  const book = bookOf({ one: {} })
  book.note(ADA, 'one', 'modern', started('modern', 't1'))
  const heard = (caller: Caller, text: string) =>
    book.heardBy(caller, 'one', readParams(Buffer.from(`{"notifications":${text},"x":1}`)) as RawParams).bytes
  const plain = '{"taskIds":["t1","t2"],"own":{}}'
  expect(JSON.parse(String(heard(ADA, plain))).notifications).toEqual(JSON.parse(plain))
  expect(JSON.parse(String(heard(BOB, plain))).notifications).toEqual({ taskIds: ['t2'], own: {} })
  for (const text of ['{"taskIds":["t1"],"taskIds":["t2"]}', '{"t\\u0061skIds":[["t1"],"t2"]}'])
    expect(JSON.parse(String(heard(BOB, text))).notifications.taskIds).toEqual(['t2'])
  expect(JSON.parse(String(heard(BOB, '{"taskIds":"t1"}'))).notifications.taskIds).toEqual([])
  expect(String(heard(BOB, '{ "toolsListChanged":true }'))).toBe(
    '{"notifications":{ "toolsListChanged":true },"x":1}',
  )
})
