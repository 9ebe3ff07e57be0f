import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Refreshes } from './refresh.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

test('[C4] what changes many times is looked at now and once more, each list by itself', async () => {
  const fetched: string[] = []
  const refreshes = new Refreshes(async (list) => void fetched.push(list))
  for (let count = 0; count < 2000; count++) {
    refreshes.ask('resources')
    refreshes.ask('prompts')
  }
  expect(fetched).toEqual(['resources', 'prompts'])
  await vi.advanceTimersByTimeAsync(10_000)
  expect(fetched).toEqual(['resources', 'prompts', 'resources', 'prompts'])
  refreshes.ask('tools')
  refreshes.ask('resources')
  expect(fetched.slice(4)).toEqual(['tools', 'resources'])
})
