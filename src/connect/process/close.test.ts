import { expect, test } from 'vitest'
import { allOf, marked, type Staged, stage, stageNode, until } from './staging.ts'
import { findProcess } from './table.ts'

// Does not mind the end of its input, and says when it is in place.
const LASTING = `
  setInterval(() => {}, 1000)
  process.stdout.write('ready ' + process.pid + '\\n')
`
const STUBBORN = `process.on('SIGTERM', () => {}); ${LASTING}`
/** A script that can start another one, in its own group or out of it. */
const launching = (script: string) => `
  const { spawn } = require('node:child_process')
  const launch = (detached, env) =>
    spawn(process.execPath, ['-e', ${JSON.stringify(script)}], { detached, env, stdio: 'inherit' });
`

/** Closes and gives the milliseconds it took; nothing of the server is alive then. */
async function timeToClose({ server, marker }: Staged): Promise<number> {
  const start = performance.now()
  expect(await server.close()).toMatchObject({ survivors: [] })
  const took = performance.now() - start
  expect(marked(marker)).toEqual([])
  return took
}

async function pidOf(staged: Staged): Promise<number> {
  return Number((await staged.line()).split(' ')[1])
}

test.concurrent('a server that ends with its input is closed at once and without a signal', async (scope) => {
  const staged = await stage(scope, 'cat', [])
  expect(await timeToClose(staged)).toBeLessThan(500)
  expect(staged.server.exit).toEqual({ code: 0, signal: null })
})

test.concurrent('one that ends at SIGTERM is given the time to do so', async (scope) => {
  const staged = await stageNode(
    scope,
    `
    setInterval(() => {}, 1000)
    process.on('SIGTERM', () => process.exit(7))
    console.log('ready')
  `,
  )
  await staged.line()
  const took = await timeToClose(staged)
  expect(took).toBeGreaterThan(900)
  expect(took).toBeLessThan(1900)
  expect(staged.server.exit).toEqual({ code: 7, signal: null })
})

test.concurrent('one that ignores both is killed', async (scope) => {
  const staged = await stageNode(scope, STUBBORN)
  await staged.line()
  expect(await timeToClose(staged)).toBeLessThan(3200)
  expect(staged.server.exit).toEqual({ code: null, signal: 'SIGKILL' })
})

test.concurrent('a stubborn grandchild ends with its wrapper', async (scope) => {
  const staged = await stageNode(scope, `${launching(STUBBORN)} launch(false); process.stdin.resume()`)
  const grandchild = await pidOf(staged)
  expect(await timeToClose(staged)).toBeLessThan(3200)
  expect(findProcess(grandchild)).toBeUndefined()
})

test.concurrent('a double fork with setsid is found by its mark', async (scope) => {
  const staged = await stage(scope, 'sh', [
    '-c',
    '(setsid "$0" -e "$1" &) ; read line',
    process.execPath,
    LASTING,
  ])
  const escaped = await pidOf(staged)
  expect(findProcess(escaped)?.group).not.toBe(staged.server.pid)
  expect(await timeToClose(staged)).toBeLessThan(3200)
  expect(findProcess(escaped)).toBeUndefined()
})

test.concurrent('one that also dropped its mark is found while its parent lives', async (scope) => {
  const staged = await stageNode(scope, `${launching(LASTING)} launch(true, {}); process.stdin.resume()`)
  const escaped = await pidOf(staged)
  expect(await timeToClose(staged)).toBeLessThan(3200)
  expect(findProcess(escaped)).toBeUndefined()
})

test.concurrent('what a crashed server leaves in and out of its group is ended', async (scope) => {
  const staged = await stageNode(
    scope,
    `
    ${launching(LASTING)} launch(false, {}); launch(true)
    process.stdin.once('data', () => process.kill(process.pid, 'SIGSEGV'))
  `,
  )
  const left = [await pidOf(staged), await pidOf(staged)]
  staged.server.stdin.write('now')
  expect(await staged.server.exited).toEqual({ code: null, signal: 'SIGSEGV' })
  expect(left.map(findProcess)).not.toContain(undefined)
  await until(() => left.every((pid) => findProcess(pid) === undefined), 3500)
})

test.concurrent('what a server wrote before it crashed can still be read', async (scope) => {
  const staged = await stage(scope, 'sh', ['-c', 'echo last; exit 4'])
  const said = allOf(staged)
  await staged.server.exited
  expect(await said).toBe('last\n')
})

test.concurrent('one that never reads, with a full pipe, is closed in time', async (scope) => {
  const staged = await stageNode(scope, LASTING)
  await staged.line()
  staged.server.stdin.write(Buffer.alloc(5_000_000))
  expect(staged.server.stdin.writableLength).toBeGreaterThan(0)
  expect(await timeToClose(staged)).toBeLessThan(3200)
})

test.concurrent('one that floods stderr is closed in time', async (scope) => {
  const staged = await stageNode(
    scope,
    `
    const chunk = 'flood\\n'.repeat(10000)
    const write = () => process.stderr.write(chunk, write)
    console.log('ready')
    write()
  `,
  )
  await staged.line()
  expect(await timeToClose(staged)).toBeLessThan(3200)
  expect(staged.server.stderrTail(1)).toMatch(/^flo/)
})

test.concurrent('one that starts others as fast as it can is ended all the same', async (scope) => {
  const staged = await stage(scope, 'sh', [
    '-c',
    'echo ready; while :; do (setsid sleep 30 &); sleep 0.02; done',
  ])
  await staged.line()
  expect(await timeToClose(staged)).toBeLessThan(3500)
})

test.concurrent('closing many times, also at once and after the end, is closing once', async (scope) => {
  const { server } = await stage(scope, 'cat', [])
  const exits = await Promise.all([server.close(), server.close()])
  exits.push(await server.close())
  expect(exits).toEqual(Array(3).fill({ code: 0, signal: null, survivors: [] }))
})

test.concurrent('twenty servers are closed together as fast as one', async (scope) => {
  const all = await Promise.all(Array.from({ length: 20 }, () => stage(scope, 'cat', [])))
  const start = performance.now()
  await Promise.all(all.map(({ server }) => server.close()))
  expect(performance.now() - start).toBeLessThan(1500)
})
