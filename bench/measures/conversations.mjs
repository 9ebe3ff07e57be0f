// How long a message to the agent takes until it is acknowledged, that is, on disk: of a gateway that does nothing else, and
// of one with 20 conversations at work, of which one hangs in a tool.
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { load, median } from '../load.mjs'
import { BUSBAR, written } from '../systems.mjs'

const here = (name) => fileURLToPath(new URL(`../servers/${name}`, import.meta.url))
const ADMIN = 'bench-admin-0123456789abcdef'
const BUSY = 19

export const conversations = {
  name: 'conversations',
  about: `messages to a conversation whose tool hangs, until they are acknowledged; alone, and beside ${BUSY} at work`,
  columns: [
    { key: 'half', title: 'p50 ms', compare: 'ratio' },
    { key: 'slow', title: 'p99 ms', compare: 'ratio' },
  ],
  *round(stage, { calls }) {
    for (const [name, busy] of [
      ['idle gateway', 0],
      [`${BUSY} conversations at work`, BUSY],
    ])
      yield { group: 'one gateway', name, values: () => measure(stage, busy, Math.max(100, calls / 5)) }
  },
}

async function measure(stage, busy, count) {
  const model = await stage.listen(process.execPath, [here('model.mjs')])
  const home = stage.folder()
  const config = written(home, {
    servers: {
      echo: { command: process.execPath, args: [here('echo.mjs')] },
      stuck: { command: process.execPath, args: [here('stuck.mjs')] },
    },
    agents: {
      bench: { servers: ['*'], approval: 'never', naming: 's_t', energy: { capacity: 1e9, recovery: 1e6 } },
    },
    agent: {
      model: {
        provider: 'anthropic',
        name: 'bench',
        baseUrl: `http://127.0.0.1:${model.port}/v1`,
        key: 'none',
      },
      rounds: 1_000_000,
    },
  })
  const gateway = await stage.listen(
    process.execPath,
    [BUSBAR, 'up', '--port', '0', '--json', '--trust', '--config', config],
    { env: { BUSBAR_HOME: join(home, 'state'), BUSBAR_ADMIN_TOKEN: ADMIN } },
  )
  const api = apiOf(gateway.port)
  try {
    const stuck = await begin(api, 'please hang')
    await until(
      async () => (await api('GET', `/api/conversations/${stuck}`)).conversation.messages.length >= 2,
    )
    const others = await Promise.all(Array.from({ length: busy }, () => begin(api, 'please go on')))
    const called = async (id) =>
      (await api('GET', `/api/conversations/${id}`)).conversation.messages.some(
        ({ role }) => role === 'outcome',
      )
    for (const id of others) await until(() => called(id))
    const say = () => api('POST', `/api/conversations/${stuck}/messages`, { text: 'are you there?' })
    await load(say, 50, 1)
    const { times } = await load(say, count, 1)
    const sorted = times.sort((one, other) => one - other)
    return { half: median(sorted), slow: sorted[Math.floor(sorted.length * 0.99)] }
  } finally {
    await stage.stop(gateway.child)
    await stage.stop(model.child)
  }
}

function apiOf(port) {
  const headers = { authorization: `Bearer ${ADMIN}`, 'content-type': 'application/json' }
  return async (method, path, body) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers,
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    const data = await answer.json()
    if (!answer.ok) throw new Error(`${method} ${path}: ${data.message}`)
    return data
  }
}

async function begin(api, text) {
  const { id } = await api('POST', '/api/conversations', {})
  await api('POST', `/api/conversations/${id}/messages`, { text })
  return id
}

async function until(look) {
  for (const deadline = performance.now() + 60_000; performance.now() < deadline; await pause(20))
    if (await look()) return
  throw new Error('the conversations do not get to work')
}
