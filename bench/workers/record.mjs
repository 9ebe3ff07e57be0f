// What recording costs in one of three ways; prints microseconds for each call, of wall and of processor time.
//   node record.mjs append|together|alone CALLS FOLDER
import { join } from 'node:path'
import { setImmediate as breathe } from 'node:timers/promises'
import { fromSources } from './sources.mjs'

const [way, calls, folder] = process.argv.slice(2)
const CALLS = Number(calls)
const WARM = 10_000
const ARGUMENTS = JSON.stringify({ owner: 'example', repository: 'busbar', number: 12 })
const END = { duration: 12.345, outcome: 'ok', energy: 0.25, resultBytes: 200, result: 'x'.repeat(200) }

const { Names, openStore, Recorder } = await fromSources(folder, {
  Names: 'record/names.ts',
  openStore: 'store/open.ts',
  Recorder: 'record/recorder.ts',
})
// As in real use, one for all calls of a tool.
const NAMES = Array.from(
  { length: 20 },
  (_, number) => new Names('cto', `server${number % 5}`, `tool${number}`, 'gateway'),
)
const onTrouble = (message) => console.error(message)
const store = await openStore({ file: join(folder, 'busbar.db'), sealKey: 'k'.repeat(32), onTrouble })
const recorder = await Recorder.open({ store, folder: join(folder, 'journals'), onTrouble })

const WAYS = {
  /** Rows alone, without what makes them survive a kill. */
  async append(count) {
    for (let done = 0; done < count; done += 100)
      await store.invocations.append(Array.from({ length: 100 }, row))
  },
  together: (count) => recorded(count, 32),
  alone: (count) => recorded(count, 1),
}

await WAYS[way](WARM)
const cpu = process.cpuUsage()
const began = performance.now()
await WAYS[way](CALLS)
const wall = ((performance.now() - began) * 1000) / CALLS
const { user, system } = process.cpuUsage(cpu)
const { ok } = await store.invocations.verify()
if (!ok) throw new Error('the record is broken')
console.log(JSON.stringify({ wall, cost: (user + system) / CALLS }))
await recorder.close()
await store.close()

function row() {
  const { names, ...rest } = start()
  const { agent, server, tool, surface } = names
  return { ...rest, agent, server, tool, surface, ...END }
}

/** Calls that begin and end together, waited for as the path of a call does, until their rows are in the store. */
async function recorded(count, together) {
  for (let done = 0; done < count; done += together) {
    const begun = Array.from({ length: together }, () => recorder.begin(start()))
    await recorder.written()
    await breathe()
    for (const call of begun) recorder.end(call, END)
    await recorder.written()
  }
  await recorder.flush()
}

function start() {
  start.number = (start.number ?? 0) + 1
  const { number } = start
  return {
    id: `0190a1b2-c3d4-7e5f-8a9b-${String(number).padStart(12, '0')}`,
    names: NAMES[number % NAMES.length],
    startedAt: 1_790_000_000_000 + number,
    requestBytes: ARGUMENTS.length,
    arguments: ARGUMENTS,
  }
}
