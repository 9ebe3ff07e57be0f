// What recording a call costs: a row in the store, and all of it with the journal, as the path waits for it. Amortised, in microseconds of wall
// and of processor time, the least and the median of several rounds. Prints a table; decides nothing.
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as breathe } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

const ROUNDS = Number(process.argv[2] ?? 15)
const CALLS = Number(process.env.CALLS ?? 10_000)
const ARGUMENTS = JSON.stringify({ owner: 'example', repository: 'busbar', number: 12 })
const RESULT = 'x'.repeat(200)
const root = fileURLToPath(new URL('..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'busbar-bench-'))

/** The two folders as plain JavaScript, beside the packages they need; the library does not offer them. */
async function load() {
  const entry = join(folder, 'entry.ts')
  writeFileSync(
    entry,
    `export { openStore } from ${JSON.stringify(join(root, 'src/store/open.ts'))}\n` +
      `export { Recorder } from ${JSON.stringify(join(root, 'src/record/recorder.ts'))}\n`,
  )
  const file = join(folder, 'entry.mjs')
  const bundle = await rolldown({
    input: entry,
    platform: 'node',
    logLevel: 'silent',
    external: ['@photostructure/sqlite'],
  })
  await bundle.write({ file, format: 'esm', codeSplitting: false })
  await bundle.close()
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  return import(file)
}

let number = 0
function start() {
  number += 1
  return {
    id: `0190a1b2-c3d4-7e5f-8a9b-${String(number).padStart(12, '0')}`,
    agent: 'cto',
    server: `server${number % 5}`,
    tool: `tool${number % 20}`,
    surface: 'gateway',
    startedAt: 1_790_000_000_000 + number,
    requestBytes: ARGUMENTS.length,
    arguments: ARGUMENTS,
  }
}
const end = { duration: 12.345, outcome: 'ok', energy: 0.25, resultBytes: 200, result: RESULT }

/** Calls that begin and end together, waited for as the path of a call does. */
async function together(recorder, count) {
  const calls = Array.from({ length: count }, () => recorder.begin(start()))
  await recorder.written()
  await breathe()
  for (const call of calls) recorder.end(call, end)
  await recorder.written()
}

/** Microseconds of wall and processor time for each of `CALLS`. */
async function measure(work) {
  const cpu = process.cpuUsage()
  const began = process.hrtime.bigint()
  await work()
  const wall = Number(process.hrtime.bigint() - began) / 1000
  const { user, system } = process.cpuUsage(cpu)
  return [wall / CALLS, (user + system) / CALLS]
}

try {
  const { openStore, Recorder } = await load()
  const onTrouble = (message) => console.error(message)
  const store = await openStore({ file: join(folder, 'busbar.db'), sealKey: 'k'.repeat(32), onTrouble })
  const recorder = await Recorder.open({ store, folder: join(folder, 'journals'), onTrouble })
  const CASES = {
    'append, 100 rows at once': async () => {
      for (let done = 0; done < CALLS; done += 100)
        await store.invocations.append(Array.from({ length: 100 }, () => ({ ...start(), ...end })))
    },
    'recorder, 32 calls at a time, to the store': async () => {
      for (let done = 0; done < CALLS; done += 32) await together(recorder, 32)
      await recorder.flush()
    },
    'recorder, one call at a time, to the store': async () => {
      for (let done = 0; done < CALLS; done++) await together(recorder, 1)
      await recorder.flush()
    },
  }
  const results = Object.fromEntries(Object.keys(CASES).map((name) => [name, []]))
  for (let round = 0; round < ROUNDS + 2; round++)
    for (const [name, work] of Object.entries(CASES)) {
      const result = await measure(work)
      // The first rounds compile.
      if (round >= 2) results[name].push(result)
      await recorder.flush()
    }
  const sorted = (list, index) => list.map((entry) => entry[index]).sort((a, b) => a - b)
  const cell = (list, index) =>
    `${sorted(list, index)[0].toFixed(1)} | ${sorted(list, index)[list.length >> 1].toFixed(1)}`
  console.log(
    `| ${ROUNDS} rounds of ${CALLS} calls, µs for each | wall, least | median | cpu, least | median |`,
  )
  console.log('|---|---:|---:|---:|---:|')
  for (const [name, list] of Object.entries(results))
    console.log(`| ${name} | ${cell(list, 0)} | ${cell(list, 1)} |`)
  const began = process.hrtime.bigint()
  const { ok, rows } = await store.invocations.verify()
  const verified = Number(process.hrtime.bigint() - began) / 1000 / rows
  console.log(`verify: ${verified.toFixed(1)} µs for each of ${rows} rows, ${ok ? 'whole' : 'broken'}`)
  await recorder.close()
  await store.close()
} finally {
  rmSync(folder, { recursive: true, force: true })
}
