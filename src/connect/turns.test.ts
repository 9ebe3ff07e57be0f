import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type Stop, Stopper } from '../base/stop.ts'
import type { Asker } from './asker.ts'
import { Turns } from './turns.ts'

let count = 0
const asker = (): Asker => ({
  client: `client ${count++}`,
  canAnswer: true,
  question: async () => ({ result: {} }),
  remark: () => undefined,
})

const taken = () => Object.assign(new Turns('files'), { taken: true })
const IDLE = 60_000
/** What is kept apart after an answer. */
const AFTER = 2_000
const enter = (turns: Turns, tool: string, party: Asker | undefined, stop: Stop = new Stopper()) =>
  turns.enter(tool, party, IDLE, stop)

/** Whether somebody is in, once all that can happen at once has happened. */
async function isIn(entering: Promise<unknown>): Promise<boolean> {
  let inside = false
  void entering.then(
    () => (inside = true),
    () => undefined,
  )
  await new Promise((resolve) => setImmediate(resolve))
  return inside
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

test('what may ask is made for one client at a time, in turn', async () => {
  const turns = taken()
  const [one, other, third] = [asker(), asker(), asker()]
  const leave = await enter(turns, 'ask', one)
  const second = enter(turns, 'ask', other)
  const last = enter(turns, 'ask', third)
  expect(await isIn(enter(turns, 'ask', one))).toBe(true)
  expect([await isIn(second), await isIn(last)]).toEqual([false, false])
  turns.asked(one)
  leave('answered')
  expect(await isIn(second)).toBe(false)
})

test('what was seen to ask nothing goes side by side, but not beside what may ask', async () => {
  const turns = taken()
  const [one, other] = [asker(), asker()]
  ;(await enter(turns, 'read', one))('answered')
  vi.advanceTimersByTime(AFTER)
  const reading = await enter(turns, 'read', one)
  expect(await isIn(enter(turns, 'read', other).then((leave) => leave('answered')))).toBe(true)
  const asking = enter(turns, 'ask', other)
  expect(await isIn(asking)).toBe(false)
  // Who came later does not overtake the one who waits.
  const later = enter(turns, 'read', undefined)
  expect(await isIn(later)).toBe(false)
  reading('answered')
  const leave = await asking
  expect(await isIn(later)).toBe(false)
  turns.asked(other)
  leave('answered')
  ;(await later)('answered')
  vi.advanceTimersByTime(AFTER)
  const again = await enter(turns, 'ask', one)
  expect(await isIn(enter(turns, 'ask', other))).toBe(false)
  again('answered')
})

test('who waits for the first call of a tool goes in with all others when that asked nothing', async () => {
  const turns = taken()
  const leave = await enter(turns, 'read', asker())
  const others = [asker(), asker(), asker()].map((other) => enter(turns, 'read', other))
  expect(await Promise.all(others.map(isIn))).toEqual([false, false, false])
  leave('answered')
  expect(await Promise.all(others.map(isIn))).toEqual([true, true, true])
})

test('who gives up waiting leaves no gap', async () => {
  const turns = taken()
  const [one, other, third] = [asker(), asker(), asker()]
  const leave = await enter(turns, 'ask', one)
  const stop = new Stopper()
  const second = enter(turns, 'ask', other, stop)
  const last = enter(turns, 'ask', third)
  stop.abort()
  await expect(second).rejects.toMatchObject({ code: 'CALL_CANCELLED' })
  expect(await isIn(last)).toBe(false)
  leave('given up')
  ;(await last)('answered')
})

test('until a tool was seen to be silent after its answer, others may not ask right after it', async () => {
  const turns = taken()
  const [one, other] = [asker(), asker()]
  ;(await enter(turns, 'start', one))('answered')
  const next = enter(turns, 'ask', other)
  // What asks nothing does not wait for whom waits for that.
  expect(await isIn(enter(turns, 'start', one).then((leave) => leave('answered')))).toBe(true)
  expect(await isIn(next)).toBe(false)
  vi.advanceTimersByTime(AFTER - 1)
  expect(await isIn(next)).toBe(false)
  vi.advanceTimersByTime(1)
  ;(await next)('answered')
  vi.advanceTimersByTime(AFTER)
  ;(await enter(turns, 'start', one))('answered')
  expect(await isIn(enter(turns, 'ask', other))).toBe(true)
})

test('a tool after whose answer something was asked is not taken to be silent', async () => {
  const turns = taken()
  const [one, other] = [asker(), asker()]
  for (let round = 0; round < 2; round++) {
    ;(await enter(turns, 'start', one))('answered')
    turns.aftermath.questioned()
    vi.advanceTimersByTime(AFTER)
  }
  ;(await enter(turns, 'start', one))('answered')
  expect(await isIn(enter(turns, 'ask', other))).toBe(false)
})

test('what was given up is waited for a while, or until it is answered; not when it is known to ask nothing', async () => {
  const turns = taken()
  const [one, other] = [asker(), asker()]
  const givesUp = async (subject: string, id: number) => {
    const leave = await enter(turns, subject, one)
    turns.aftermath.gaveUp(id, { subject, client: one.client, idle: IDLE })
    leave('given up')
  }
  await givesUp('ask', 7)
  const first = enter(turns, 'ask', other)
  vi.advanceTimersByTime(9_999)
  expect(await isIn(first)).toBe(false)
  vi.advanceTimersByTime(1)
  ;(await first)('answered')
  vi.advanceTimersByTime(AFTER)
  // Nothing was learned of it.
  await givesUp('wait', 8)
  const second = enter(turns, 'wait', other)
  expect(await isIn(second)).toBe(false)
  turns.aftermath.answeredLate(8)
  vi.advanceTimersByTime(AFTER)
  ;(await second)('answered')
  await givesUp('wait', 9)
  expect(await isIn(enter(turns, 'new', other))).toBe(true)
})

test('when a server asks by itself, nobody waits any more', async () => {
  const turns = taken()
  await enter(turns, 'ask', asker())
  const others = [enter(turns, 'ask', asker()), enter(turns, 'ask', asker())]
  expect(await isIn(others[0] ?? Promise.reject())).toBe(false)
  turns.end()
  expect(await Promise.all(others.map(isIn))).toEqual([true, true])
})

test('what asks nothing, and who cannot be asked, goes beside a call that waits for its client; nothing else does', async () => {
  const turns = taken()
  let hurried = 0
  const one = { ...asker(), awaited: () => void hurried++ }
  const other = asker()
  ;(await enter(turns, 'echo', one))('answered')
  vi.advanceTimersByTime(AFTER)
  const leave = await enter(turns, 'ask', one)
  const before = enter(turns, 'echo', other)
  expect(await isIn(before)).toBe(false)
  const answered = turns.asked(one)
  expect([await isIn(before), hurried]).toEqual([true, 1])
  const asking = enter(turns, 'another', other)
  expect([await isIn(asking), hurried]).toEqual([false, 2])
  // Who waits is overtaken by what goes beside.
  const silent = enter(turns, 'new', undefined)
  const quiet = enter(turns, 'echo', asker())
  expect([await isIn(silent), await isIn(quiet)]).toEqual([true, true])
  ;(await silent)('answered')
  // From the answer on the call is alone again, and goes on when it is.
  const going = answered() ?? Promise.reject()
  const late = enter(turns, 'echo', undefined)
  expect(await isIn(late)).toBe(false)
  ;(await before)('answered')
  expect(await isIn(going)).toBe(false)
  ;(await quiet)('answered')
  expect(await isIn(going)).toBe(true)
  leave('answered')
  ;(await late)('answered')
  vi.advanceTimersByTime(AFTER)
  ;(await asking)('answered')
})

test('an answer does not wait for long for what went beside', async () => {
  const turns = taken()
  const one = asker()
  const leave = await enter(turns, 'ask', one)
  const answered = turns.asked(one)
  await enter(turns, 'long', undefined)
  const going = answered() ?? Promise.reject()
  vi.advanceTimersByTime(9_999)
  expect(await isIn(going)).toBe(false)
  vi.advanceTimersByTime(1)
  expect(await isIn(going)).toBe(true)
  leave('answered')
})

test('where nobody has to wait, it is noted all the same who called', async () => {
  const turns = new Turns('files')
  const [one, other] = [asker(), asker()]
  const leave = await enter(turns, 'start', one)
  ;(await enter(turns, 'slow', other))('answered')
  leave('answered')
  expect([turns.aftermath.other(one.client), turns.aftermath.other(other.client)]).toEqual([
    'answered',
    'answered',
  ])
  turns.taken = true
  expect(await isIn(enter(turns, 'ask', other))).toBe(false)
})
