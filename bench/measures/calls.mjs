// What a small call costs the gateway, and how many go through, with 32 clients at once.
import { costOf, load } from '../load.mjs'
import { withSystem } from '../systems.mjs'

const CLIENTS = 32
const SIZE = 100

export const calls = {
  name: 'calls',
  about: `small calls (${SIZE} B), ${CLIENTS} clients at once; processor time of the gateway's process`,
  columns: [
    { key: 'cost', title: 'CPU µs/call', compare: 'ratio' },
    { key: 'rate', title: 'calls/s', compare: 'ratio' },
  ],
  *round(stage, { systems, calls: count }) {
    for (const backend of ['stdio', 'http'])
      for (const system of systems.filter(({ backends }) => backends.includes(backend)))
        yield {
          group: `${backend} server`,
          name: system.name,
          values: () => withSystem(stage, system, { backend }, (running) => measure(running, count)),
        }
  },
}

async function measure({ pid, client, session, call }, count) {
  const sessions = [session]
  while (sessions.length < CLIENTS) sessions.push(await client.open())
  const one = (number) => call(SIZE, sessions[number])
  await load(one, Math.min(count, 1000), CLIENTS)
  const { cost, result } = await costOf(pid, () => load(one, count, CLIENTS))
  return { cost: cost / count, rate: count / result.seconds }
}
