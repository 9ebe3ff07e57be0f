// One message stays one message, and what the configuration leaves out stays out, however a request is written.

import { expect, test } from 'vitest'
import { serverCommand } from '../servers/start.ts'
import type { Answer } from './cli.ts'
import { AGENTS, codeOf, type Gateway, place, up } from './hub.ts'

const HIDDEN = `[\n{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"count","arguments":{}}}\n]`

async function raw(gateway: Gateway, body: string): Promise<Answer> {
  return await (await gateway.post('/mcp/plain', body)).json()
}

test('[B9] line ends in a request do not make it several messages for a stdio server', async () => {
  const { sandbox } = place()
  const server = { ...serverCommand('plain'), tools: { exclude: ['fail'] } }
  const gateway = await up(sandbox, { servers: { plain: server }, agents: AGENTS })
  const answer = await raw(
    gateway,
    `{"jsonrpc":"2.0",\n"id":1,"method":"tools/call",\r\n"params":{"name":"echo","arguments":{"text":"x",\n"more":${HIDDEN}}}}`,
  )
  expect(answer).toMatchObject({ id: 1, result: { content: [{ text: 'x' }] } })
  // The counter would be at 2 if the hidden call had been made.
  const { result } = await gateway.ask('plain', 'tools/call', { name: 'count', arguments: {} })
  expect(result.content[0].text).toBe('1')
})

test('[B13] a tool name that is no text is refused, not passed on', async () => {
  const { sandbox } = place()
  const server = { ...serverCommand('plain'), tools: { exclude: ['count'] } }
  const gateway = await up(sandbox, { servers: { plain: server }, agents: AGENTS })
  for (const name of ['["count"]', '5', 'null', '{}'])
    expect(
      await raw(
        gateway,
        `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":${name},"arguments":{}}}`,
      ),
    ).toMatchObject({ id: 1, error: { code: -32602 } })
})

test('[C5] arguments on stdin may be written over several lines', async () => {
  const { sandbox } = place()
  sandbox.write('busbar.json', JSON.stringify({ servers: { plain: serverCommand('plain') } }))
  const options = { input: '{\n  "a": 1,\n  "b": 2\n}\n' }
  const { json, code } = await sandbox.run(['call', 'plain/add', '-', '--json', '--trust'], options)
  expect(code).toBe(0)
  expect(JSON.stringify(json)).toContain('3')
})

test('[C5] a handler that never answers does not outlive the call or the hub', async () => {
  const home = place()
  const hub = await home.open(
    { servers: { asking: serverCommand('elicit', { era: 'modern' }) } },
    { onElicitation: () => new Promise(() => undefined) },
  )
  await hub.as().ready()
  expect(await codeOf(hub.as().call('asking/ask', {}, { signal: AbortSignal.timeout(300) }))).toBe(
    'CALL_CANCELLED',
  )
  const waiting = codeOf(hub.as().call('asking/ask', {}))
  await hub.close()
  expect(await waiting).toMatch(/CALL_CANCELLED|CONNECTION_LOST|SERVER_UNAVAILABLE/)
})
