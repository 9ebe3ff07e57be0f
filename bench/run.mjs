// `npm run bench`: what Busbar costs, as ratios. Rounds take turns, so that whatever else the machine does falls on all
// alike; every system runs in a process of its own. Prints tables; decides nothing.
import { cpus, loadavg, totalmem } from 'node:os'
import { parseArgs } from 'node:util'
import { calls } from './measures/calls.mjs'
import { conversations } from './measures/conversations.mjs'
import { large } from './measures/large.mjs'
import { latency } from './measures/latency.mjs'
import { library } from './measures/library.mjs'
import { list } from './measures/list.mjs'
import { record } from './measures/record.mjs'
import { search } from './measures/search.mjs'
import { sessions } from './measures/sessions.mjs'
import { start } from './measures/start.mjs'
import { findPeers } from './peers.mjs'
import { summarize, tables } from './results.mjs'
import { Stage } from './stage.mjs'
import { busbar, busbarWhole, direct, plain } from './systems.mjs'

const MEASURES = [calls, latency, large, list, sessions, library, conversations, record, search, start]
const USAGE = `npm run bench -- [--only NAME[,NAME…]] [--reps N] [--calls N] [--json]
  --only   ${MEASURES.map(({ name }) => name).join(', ')}
  --reps   rounds of everything, 3 unless told
  --calls  calls of a round, 2000 unless told; the longer ones make a part of it
  --json   one line of JSON instead of tables`

const { values: options } = parseArgs({
  options: {
    only: { type: 'string' },
    reps: { type: 'string', default: '3' },
    calls: { type: 'string', default: '2000' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
if (options.help) console.log(USAGE)
else await run(chosen(), Number(options.reps), Number(options.calls))

function chosen() {
  const names = options.only?.split(',') ?? MEASURES.map(({ name }) => name)
  const unknown = names.filter((name) => !MEASURES.some((measure) => measure.name === name))
  const counts = [Number(options.reps), Number(options.calls)]
  if (unknown.length === 0 && counts.every((count) => Number.isInteger(count) && count > 0))
    return MEASURES.filter(({ name }) => names.includes(name))
  console.error(unknown.length > 0 ? `there is no measure ${unknown.join(', ')}\n${USAGE}` : USAGE)
  process.exit(1)
}

async function run(measures, reps, count) {
  const stage = new Stage()
  const { peers, note } = findPeers()
  const context = { systems: [direct, busbar, busbarWhole, plain, ...peers], peers, calls: count }
  const machine = describe()
  const results = []
  if (!options.json) console.log(`${machine}; rounds: ${reps}\n${note ? `${note}\n` : ''}`)
  try {
    for (const measure of measures) {
      const summary = summarize(measure, await sample(measure, stage, context, reps))
      results.push(summary)
      if (!options.json) console.log(tables(summary, measure.columns))
    }
  } finally {
    await stage.close()
  }
  const load = loadavg().map((value) => Number(value.toFixed(1)))
  if (options.json) console.log(JSON.stringify({ machine, reps, calls: count, load, note, results }))
  else console.log(`load of the machine at the end: ${load.join(' ')}`)
}

async function sample(measure, stage, context, reps) {
  const samples = []
  const failed = new Set()
  for (let round = 0; round < reps; round++)
    for (const { group, name, values } of measure.round(stage, context)) {
      if (failed.has(name)) continue
      try {
        samples.push({ group, name, values: await values() })
      } catch (error) {
        // A peer that cannot do something is no reason to end; what is ours is.
        if (!context.peers.some((peer) => peer.name === name)) throw error
        failed.add(name)
        console.error(`${name} is left out of ${measure.name}: ${error.message.split('\n')[0].slice(0, 200)}`)
      }
    }
  return samples.filter(({ name }) => !failed.has(name))
}

function describe() {
  const [processor] = cpus()
  const memory = Math.round(totalmem() / 2 ** 30)
  const date = new Date().toISOString().slice(0, 10)
  return `${date}; Node ${process.versions.node}, ${process.platform} ${process.arch}; ${cpus().length} × ${processor?.model.trim()}, ${memory} GiB; load ${loadavg()[0].toFixed(1)}`
}
