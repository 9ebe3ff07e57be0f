import { expect, test } from 'vitest'
import { Stopper } from '../base/stop.ts'
import type { Asker } from './asker.ts'
import { Turns } from './turns.ts'

const asker = (): Asker => ({
  canAnswer: true,
  question: async () => ({ result: {} }),
  remark: () => undefined,
})
const never = new Stopper()

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

test('what may ask is made for one client at a time, in turn', async () => {
  const turns = new Turns('files')
  const [one, other, third] = [asker(), asker(), asker()]
  const leave = await turns.enter('ask', one, never)
  const second = turns.enter('ask', other, never)
  const last = turns.enter('ask', third, never)
  expect(await isIn(turns.enter('ask', one, never))).toBe(true)
  expect([await isIn(second), await isIn(last)]).toEqual([false, false])
  turns.asked(one)
  leave()
  expect(await isIn(second)).toBe(false)
})

test('what was seen to ask nothing goes side by side, but not beside what may ask', async () => {
  const turns = new Turns('files')
  const [one, other] = [asker(), asker()]
  ;(await turns.enter('read', one, never))()
  const reading = await turns.enter('read', one, never)
  expect(await isIn(turns.enter('read', other, never).then((leave) => leave()))).toBe(true)
  const asking = turns.enter('ask', other, never)
  expect(await isIn(asking)).toBe(false)
  // Who came later does not overtake the one who waits.
  const later = turns.enter('read', undefined, never)
  expect(await isIn(later)).toBe(false)
  reading()
  const leave = await asking
  expect(await isIn(later)).toBe(false)
  turns.asked(other)
  leave()
  ;(await later)()
  const again = await turns.enter('ask', one, never)
  expect(await isIn(turns.enter('ask', other, never))).toBe(false)
  again()
})

test('who gives up waiting leaves no gap', async () => {
  const turns = new Turns('files')
  const [one, other, third] = [asker(), asker(), asker()]
  const leave = await turns.enter('ask', one, never)
  const stop = new Stopper()
  const second = turns.enter('ask', other, stop)
  const last = turns.enter('ask', third, never)
  stop.abort()
  await expect(second).rejects.toMatchObject({ code: 'CALL_CANCELLED' })
  expect(await isIn(last)).toBe(false)
  leave()
  ;(await last)()
})
