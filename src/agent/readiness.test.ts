import { expect, test } from 'vitest'
import { serversReady } from './readiness.ts'

/** Servers that are pending now; who waits for them gets to know what `later` says of it. */
function rig(later: () => Promise<readonly string[]>, pending: readonly string[] = ['stuck']) {
  let waits = 0
  const readiness = (left: readonly string[]) => ({ ready: [], pending: left, failed: [] })
  const handle = {
    ready: async ({ timeout = 30_000 } = {}) => {
      if (timeout === 0) return readiness([...pending]) as never
      waits += 1
      return readiness(await later()) as never
    },
  }
  return { handle, waits: () => waits }
}

const never = new AbortController().signal

test('[E1] a server that hangs at its start is waited for once, another one for itself', async () => {
  const hanging = new Set<string>()
  const stuck = rig(async () => ['stuck'])
  await serversReady(stuck.handle, hanging, never)
  await serversReady(stuck.handle, hanging, never)
  expect(stuck.waits()).toBe(1)
  const another = rig(async () => ['stuck'], ['stuck', 'slow'])
  await serversReady(another.handle, hanging, never)
  expect(another.waits()).toBe(1)
  expect([...hanging]).toEqual(['stuck'])
})

test('[E1] who is stopped waits for no server', async () => {
  const stop = new AbortController()
  const { handle } = rig(() => new Promise(() => undefined))
  const waiting = serversReady(handle, new Set(), stop.signal)
  stop.abort()
  await waiting
})
