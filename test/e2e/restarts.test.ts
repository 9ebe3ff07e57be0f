// Under load, servers are killed, sessions are lost and the gateway is started anew: every call ends in one way that can
// be told, and clients go on by themselves.

import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { expect, onTestFinished, test } from 'vitest'
import { type RunningServer, serverCommand, startServer } from '../servers/start.ts'
import { processesOf } from '../services/processes.ts'
import { AGENTS, type Answer, kill, place, TOKEN, until, up } from './hub.ts'

/** What one call came to: its answer, a fault with its code, or a connection that could not be had. */
type Ending = 'ok' | 'away' | string

interface Caller {
  readonly name: string
  call(tool: string, text: string): Promise<Answer>
}

const TOOLS = ['mcp__local__echo', 'mcp__remote__echo']

async function callers(url: string): Promise<Caller[]> {
  const headers = { authorization: `Bearer ${TOKEN}` }
  const v1 = new ClientV1({ name: 'v1', version: '1' })
  await v1.connect(new HttpV1(new URL(`${url}/mcp`), { requestInit: { headers } }))
  const v2 = await Promise.all(
    (['legacy', 'auto'] as const).map(async (mode) => {
      const client = new ClientV2({ name: 'v2', version: '1' }, { versionNegotiation: { mode } })
      await client.connect(new HttpV2(new URL(`${url}/mcp`), { requestInit: { headers } }))
      return client
    }),
  )
  for (const client of [v1, ...v2]) {
    client.onerror = () => undefined
    onTestFinished(() => client.close())
  }
  const [legacy, modern] = v2
  return [
    { name: 'SDK v1', call: (name, text) => v1.callTool({ name, arguments: { text } }) },
    { name: 'SDK v2', call: async (name, text) => await legacy?.callTool({ name, arguments: { text } }) },
    {
      name: 'SDK v2, modern',
      call: async (name, text) => await modern?.callTool({ name, arguments: { text } }),
    },
  ]
}

async function endingOf(caller: Caller, tool: string, text: string): Promise<Ending> {
  try {
    const { content, isError, _meta } = await caller.call(tool, text)
    if (isError) return _meta?.['busbar/fault']?.code ?? `untyped: ${JSON.stringify(content)}`
    return JSON.stringify(content).includes(text) ? 'ok' : `wrong: ${JSON.stringify(content)}`
  } catch (error) {
    const { message, cause } = error as Error & { cause?: Error & { code?: string } }
    // Node's own words for a gateway that is not there, or that went in the middle of an answer.
    const isAway = /fetch failed|terminated|503|socket|ECONN|closed/i.test(`${message} ${cause?.code ?? ''}`)
    return isAway ? 'away' : `untyped: ${message}`
  }
}

/** The ways in which a call may end that did not go well; nobody cancelled anything. */
const TYPED = new Set([
  'away',
  'CONNECTION_LOST',
  'SERVER_UNREACHABLE',
  'SERVER_UNAVAILABLE',
  'CONNECT_TIMEOUT',
])

test('[B10][D16] servers, sessions and the gateway are lost under load, and clients go on by themselves', {
  timeout: 120_000,
}, async () => {
  const { sandbox } = place()
  let remote: RunningServer = await startServer('plain', { transport: 'http', era: 'legacy' })
  const port = new URL(remote.url).port
  const config = {
    servers: { local: serverCommand('plain'), remote: { url: remote.url } },
    agents: AGENTS,
  }
  let gateway = await up(sandbox, config)
  const own = new URL(gateway.url).port
  const all = await callers(gateway.url)
  const endings: Ending[] = []
  let going = true
  const loads = all.flatMap((caller) =>
    TOOLS.map(async (tool) => {
      for (let count = 0; going; count++) endings.push(await endingOf(caller, tool, `${tool} ${count}`))
    }),
  )
  /** Some more calls that went well, of whomever. */
  const better = async (more = 20) => {
    const before = endings.filter((ending) => ending === 'ok').length
    await until(() => endings.filter((ending) => ending === 'ok').length > before + more, 30_000)
  }
  try {
    await better()
    for (let round = 0; round < 2; round++) {
      const [local] = processesOf(sandbox.root).filter((line) => line.includes('server.mjs'))
      kill(Number.parseInt(local ?? '', 10), 'SIGKILL')
      await better()
      // With the process its sessions are gone, and the next one knows nothing of them.
      await remote.stop()
      remote = await startServer('plain', { transport: 'http', era: 'legacy', port: Number(port) })
      await better()
      await gateway.end(round === 0 ? 'SIGTERM' : 'SIGKILL')
      gateway = await up(sandbox, config, { port: own })
      await better()
    }
  } finally {
    going = false
    await Promise.all(loads)
  }
  expect([...new Set(endings)].filter((ending) => ending !== 'ok' && !TYPED.has(ending))).toEqual([])
  // The very same clients, without being told anything.
  for (const caller of all)
    for (const tool of TOOLS)
      expect([caller.name, await endingOf(caller, tool, 'afterwards')]).toEqual([caller.name, 'ok'])
  await gateway.end('SIGTERM')
  const { json } = await sandbox.run(['usage', '--verify', '--json', '--config', sandbox.path('team.json')])
  expect(json).toMatchObject({ ok: true })
})
