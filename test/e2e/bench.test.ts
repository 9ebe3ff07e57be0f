// The benchmark itself is no test; that it runs, says what it promises and leaves nothing behind is one.

import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { processesOf } from '../services/processes.ts'
import { type Answer, Sandbox } from './cli.ts'
import { until } from './hub.ts'

const BENCH = new URL('../../bench/run.mjs', import.meta.url).pathname

/** Whatever a run makes is made in the sandbox. */
function started(sandbox: Sandbox, args: readonly string[]) {
  const env = { ...process.env, TMPDIR: sandbox.project, BUSBAR_BENCH_PEERS: '' }
  return { file: process.execPath, args: [BENCH, ...args], env }
}

async function bench(sandbox: Sandbox, ...args: string[]): Promise<string> {
  const { file, args: words, env } = started(sandbox, args)
  const { stdout } = await promisify(execFile)(file, words, { env })
  expect([readdirSync(sandbox.project), processesOf(sandbox.project)]).toEqual([[], []])
  return stdout
}

test('[C9] the benchmark shows what connecting and calling cost beside the floor', {
  timeout: 180_000,
}, async () => {
  const only = ['--only', 'calls,large,library', '--reps', '1', '--calls', '100']
  const { results } = JSON.parse(await bench(new Sandbox(), ...only, '--json'))
  const columns = (name: string, key: string) =>
    results
      .find((result: Answer) => result.name === name)
      .groups.map(({ group, rows }: Answer) => [
        group,
        rows.find((row: Answer) => row.name === 'Busbar').values[key],
      ])
  const figures = { value: expect.any(Number), least: expect.any(Number), most: expect.any(Number) }
  const wires = ['stdio server', 'http server']
  for (const [name, key] of [
    ['calls', 'cost'],
    ['calls', 'rate'],
    ['large', 'cost'],
    ['library', 'small'],
    ['library', 'large'],
  ] as const)
    expect(columns(name, key)).toEqual(wires.map((wire) => [wire, { ...figures, ratio: expect.any(Number) }]))
  expect(columns('library', 'first')).toEqual(
    wires.map((wire) => [wire, { ...figures, difference: expect.any(Number) }]),
  )
})

test('[C9] it prints a table, and says in a line which other gateways are not there', async () => {
  const text = await bench(new Sandbox(), '--only', 'search,record', '--reps', '1')
  expect(text).toMatch(/^not installed, so not measured: .*mcp-hub/m)
  expect(text).toMatch(/^\| Busbar +\| +\d+(\.\d+)? \| +\d+(\.\d+)? \|$/m)
  expect(text).toMatch(/^\| journal and row, one call at a time \| +\d+(\.\d+)? \| +\d+(\.\d+)? \|$/m)
})

test('[C9] Ctrl-C leaves neither a process nor a folder', async () => {
  const sandbox = new Sandbox()
  const { file, args, env } = started(sandbox, ['--only', 'calls', '--reps', '100', '--calls', '200'])
  const child = spawn(file, args, { env, stdio: 'ignore' })
  const ended = once(child, 'exit')
  // The bench itself, a gateway, and the server behind it.
  await until(() => {
    const running = processesOf(sandbox.project)
    return running.length >= 3 && running.some((line) => line.includes('bin.js up'))
  })
  child.kill('SIGINT')
  expect(await ended).toEqual([130, null])
  await until(() => processesOf(sandbox.project).length === 0)
  expect(readdirSync(sandbox.project)).toEqual([])
})
