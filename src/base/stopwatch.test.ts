import { expect, test } from 'vitest'
import { offTheClock, Stopwatch } from './stopwatch.ts'

function watch() {
  let time = 1000
  const stopwatch = new Stopwatch(() => time)
  const pass = (milliseconds: number) => {
    time += milliseconds
  }
  return { stopwatch, pass }
}

test('[D2] counts from its start, and only the first one', () => {
  const { stopwatch, pass } = watch()
  pass(10)
  expect(stopwatch.elapsed).toBe(0)
  stopwatch.start()
  pass(10)
  stopwatch.start()
  expect(stopwatch.elapsed).toBe(10)
  const earlier = watch()
  earlier.stopwatch.start(900)
  expect(earlier.stopwatch.elapsed).toBe(100)
})

test('[D2] stands still while it is held, once for all who hold it', () => {
  const { stopwatch, pass } = watch()
  stopwatch.start()
  pass(1)
  const first = stopwatch.hold()
  pass(10)
  const second = stopwatch.hold()
  pass(100)
  first()
  // Saying so again says nothing about the other.
  first()
  pass(1000)
  expect(stopwatch.elapsed).toBe(1)
  second()
  pass(2)
  expect(stopwatch.elapsed).toBe(3)
  stopwatch.hold()
  pass(10_000)
  expect(stopwatch.elapsed).toBe(3)
})

test('[D2] goes on when what was waited for has come, or will not', async () => {
  const { stopwatch, pass } = watch()
  stopwatch.start()
  const wait = async (error?: Error) => {
    await undefined
    pass(50)
    if (error) throw error
    return 'there'
  }
  expect(await offTheClock(stopwatch, wait())).toBe('there')
  await expect(offTheClock(stopwatch, wait(new Error('never')))).rejects.toThrow('never')
  pass(5)
  expect(stopwatch.elapsed).toBe(5)
})
