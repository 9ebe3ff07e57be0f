// A hundred agents at once behind one gateway with twenty servers: right answers, and one process for each server.

import { expect, test } from 'vitest'
import { processesOf } from '../services/processes.ts'
import { type Answer, isAlive, ownServer, place, until, up } from './hub.ts'

const SERVERS = Array.from({ length: 20 }, (_, index) => `server${index}`)
const AGENTS = Array.from({ length: 100 }, (_, index) => ({
  name: `agent${index}`,
  token: `token-of-agent-${index}-b41f`,
  /** The one server that this agent may not use. */
  closed: SERVERS[index % SERVERS.length] ?? '',
}))

interface Seen {
  readonly agent: string
  readonly server: string
  readonly listed: Answer
  readonly called: Answer
}

test('[A5][C9][D12] 100 agents at once through 20 servers: every answer is right, and there are 20 processes', {
  timeout: 120_000,
}, async () => {
  const { sandbox } = place()
  const servers = Object.fromEntries(SERVERS.map((name) => [name, small(name)]))
  const agents = Object.fromEntries(
    AGENTS.map(({ name, token, closed }) => [
      name,
      { servers: SERVERS.filter((server) => server !== closed), token, approval: 'never' },
    ]),
  )
  const gateway = await up(sandbox, { servers, agents })

  const seen = (await Promise.all(AGENTS.map(visit))).flat()
  const open = seen.filter(({ agent, server }) => !isClosed(agent, server))
  expect(open).toHaveLength(1900)
  expect(open.map(({ agent, server, called }) => [agent, server, textOf(called)])).toEqual(
    open.map(({ agent, server }) => [agent, server, { server, agent, pid: expect.any(Number) }]),
  )
  expect(open.map(({ listed }) => listed.result?.tools?.map((tool: Answer) => tool.name))).toEqual(
    open.map(({ server }) => [`ask_${server}`]),
  )
  const refused = seen.filter(({ agent, server }) => isClosed(agent, server))
  expect(refused).toHaveLength(100)
  for (const { listed, called } of refused)
    for (const answer of [listed, called]) expect(answer.error?.data).toMatchObject({ code: 'NO_ACCESS' })

  const pids = new Set(open.map(({ called }) => textOf(called).pid))
  const running = processesOf(sandbox.root).filter((line) => line.includes('own-'))
  expect(running.map((line) => Number.parseInt(line, 10)).sort()).toEqual([...pids].sort())
  expect(pids.size).toBe(20)

  await gateway.end('SIGTERM')
  await until(() => ![...pids].some(isAlive))
  expect(processesOf(sandbox.root)).toEqual([])

  /** Starts at another server than its neighbour and goes round, so that all of them are busy all the time. */
  async function visit({ name: agent, token }: (typeof AGENTS)[number], index: number): Promise<Seen[]> {
    const round = [...SERVERS.slice(index % SERVERS.length), ...SERVERS.slice(0, index % SERVERS.length)]
    const results: Seen[] = []
    for (const server of round) {
      const ask = async (id: string, method: string, params: object) => {
        const headers = { authorization: `Bearer ${token}` }
        const response = await gateway.post(`/mcp/${server}`, { jsonrpc: '2.0', id, method, params }, headers)
        const answer: Answer = await response.json()
        expect(answer.id).toBe(id)
        return answer
      }
      const [listed, called] = await Promise.all([
        ask(`${agent}/${server}/list`, 'tools/list', {}),
        ask(`${agent}/${server}/call`, 'tools/call', { name: `ask_${server}`, arguments: { agent } }),
      ])
      results.push({ agent, server, listed, called })
    }
    return results
  }

  function small(name: string) {
    const answer = `({ agent }) => ({ server: '${name}', agent, pid: process.pid })`
    return ownServer(sandbox, `{ ask_${name}: ${answer} }`)
  }
})

function isClosed(agent: string, server: string): boolean {
  return AGENTS.find(({ name }) => name === agent)?.closed === server
}

function textOf(answer: Answer): Answer {
  return JSON.parse(answer.result.content[0].text)
}
