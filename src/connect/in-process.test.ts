import { expect, test } from 'vitest'
import { message, open } from './http/test-rig.ts'
import { type InProcessServer, openInProcess } from './in-process.ts'

const never = () => new Promise<void>(() => undefined)
const took = async (work: Promise<unknown>) => {
  const began = performance.now()
  await work
  return performance.now() - began
}
const opened = (instance: InProcessServer) => open(openInProcess('own', instance))

test('an object that never closes is left to itself after as long as a process has', async () => {
  const { transport, told } = await opened({ connect: async () => undefined, close: never })
  transport.send(message(1, 'initialize'))
  const time = await took(transport.close())
  expect(time).toBeGreaterThan(2_900)
  expect(time).toBeLessThan(4_000)
  expect(told.ends).toEqual([])
})

test('one that closes is waited for, and no longer', async () => {
  let closed = false
  const close = async () => {
    await new Promise((resolve) => setTimeout(resolve, 50))
    closed = true
  }
  const { transport } = await opened({ connect: async () => undefined, close })
  await Promise.resolve()
  expect(await took(transport.close())).toBeLessThan(1_000)
  expect(closed).toBe(true)
})

test('one that never connected is not waited for', async () => {
  const { transport } = await opened({ connect: never, close: never })
  expect(await took(transport.close())).toBeLessThan(1_000)
})

for (const [how, close] of [
  ['throws', () => expect.fail('no')],
  ['rejects', () => Promise.reject(new Error('no'))],
] as const)
  test(`one that ${how} when it is closed is closed`, async () => {
    const { transport } = await opened({ connect: async () => undefined, close })
    await Promise.resolve()
    await transport.close()
  })
