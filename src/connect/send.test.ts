import { expect, test } from 'vitest'
import type { Stop } from '../base/stop.ts'
import { Stopwatch } from '../base/stopwatch.ts'
import { type ReplyMessage, readMessage } from '../wire/message.ts'
import { pause } from './pause.ts'
import { untilAnswered } from './send.ts'

const reply = (result: object) =>
  readMessage(Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, result }))) as ReplyMessage
const QUESTION = reply({ resultType: 'input_required', inputRequests: {} })
const DONE = reply({ resultType: 'complete', content: [] })
const asked = (total: number, since = performance.now()) => ({
  server: 'files',
  method: 'tools/call',
  signal: undefined,
  limits: { idle: 60_000, total },
  since,
  clock: undefined,
})
const answers = async (question: ReplyMessage) => question
const LATE = {
  code: 'CALL_TIMEOUT',
  message: 'files did not answer tools/call within 120 ms',
  hint: 'give it longer: timeouts.total of files',
}

test('all rounds of questions together have the time of one request', async () => {
  let rounds = 0
  const again = async (_question: ReplyMessage, stop: Stop) => {
    rounds += 1
    await pause(50, stop)
    if (stop.aborted) throw new Error('stopped')
    return QUESTION
  }
  await expect(untilAnswered(asked(120), QUESTION, answers, again)).rejects.toMatchObject(LATE)
  expect(rounds).toBeGreaterThan(1)
  expect(rounds).toBeLessThan(4)
})

test('what is under way when the time is over is told to stop', async () => {
  const again = async (_question: ReplyMessage, stop: Stop) => {
    await pause(60_000, stop)
    throw new Error(stop.aborted ? 'stopped' : 'nobody stopped it')
  }
  await expect(untilAnswered(asked(120), QUESTION, answers, again)).rejects.toMatchObject(LATE)
  // What the first answer took counts, too.
  const before = performance.now()
  await expect(untilAnswered(asked(120, before - 10_000), QUESTION, answers, again)).rejects.toMatchObject(
    LATE,
  )
  expect(performance.now() - before).toBeLessThan(100)
})

test('an answer in time is the answer, and one without a question is not looked at twice', async () => {
  expect(await untilAnswered(asked(5_000), QUESTION, answers, async () => DONE)).toBe(DONE)
  expect(await untilAnswered(asked(0), DONE, answers, () => Promise.reject(new Error('asked')))).toBe(DONE)
})

test('[D2] the server is not timed while it is found out what it wants to know', async () => {
  let now = 0
  const clock = new Stopwatch(() => now)
  clock.start()
  const think = async () => {
    await undefined
    now += 50_000
  }
  const rounds = [QUESTION, DONE]
  const work = async () => {
    now += 100
    return rounds.shift() ?? DONE
  }
  expect(await untilAnswered({ ...asked(5_000), clock }, QUESTION, think, work)).toBe(DONE)
  expect(clock.elapsed).toBe(200)
})
