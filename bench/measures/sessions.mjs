// Memory of the gateway's process, idle and with 100 clients connected.
import { setTimeout as pause } from 'node:timers/promises'
import { memory } from '../load.mjs'
import { withSystem } from '../systems.mjs'

const SESSIONS = 100

export const sessions = {
  name: 'sessions',
  about: `memory of the gateway's process (not of its servers), idle and with ${SESSIONS} sessions that are open`,
  columns: [
    { key: 'idle', title: 'idle MiB', compare: 'ratio' },
    { key: 'full', title: `with ${SESSIONS} MiB`, compare: 'ratio' },
  ],
  *round(stage, { systems }) {
    // A hundred servers at once would measure the machine's memory, not the gateway's.
    for (const system of systems.filter(({ serverForEach }) => !serverForEach))
      yield {
        group: 'stdio server',
        name: system.name,
        values: () => withSystem(stage, system, { backend: 'stdio' }, measure),
      }
  },
}

async function measure({ pid, client }) {
  await pause(SETTLE)
  const idle = memory(pid)
  for (let number = 0; number < SESSIONS; number++) await listening(client)
  await pause(SETTLE)
  return { idle, full: memory(pid) }
}

/** A session with its stream open, where there is such a thing. */
async function listening(client) {
  const session = await client.open()
  if (!(await client.listen(session))) throw new Error('the stream of a session was refused')
}

// Long enough for what was under way at the start.
const SETTLE = 500
