// A real server that keeps something: over stdio for as long as its process lives, over http for each session.

import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import type { Sandbox } from './cli.ts'
import { type Answer, ownServer } from './hub.ts'

/**
 * `set` and `get` a value, `count` calls, tell the `pid`, be busy until a file is there, say something, start a task.
 * It has one resource and one prompt, which say what the value is.
 */
const TOOLS = `{
  set: ({ value }) => { kept = value; count += 1; return { value: kept ?? null, count } },
  get: () => ({ value: kept ?? null, count: ++count }),
  pid: () => process.pid,
  busy: ({ file }) => new Promise((resolve) => {
    const look = () => existsSync(file) ? resolve('done') : setTimeout(look, 10)
    look()
  }),
  update: (_, say) => { say({ method: 'notifications/resources/updated', params: { uri: 'kept:value' } }) },
  log: ({ text }) => { setImmediate(() => say({ method: 'notifications/message', params: { level: 'error', data: text } })) },
  levels: () => levels,
  subscribed: () => [...subscribed],
  crash: () => process.exit(7),
  task: () => null,
}`

const BEFORE = `
import { existsSync } from 'node:fs'
let kept, count = 0
if (process.env.STUBBORN) {
  // The end of its input does not end it.
  process.exit = () => {}
  setInterval(() => {}, 1000)
}
const levels = [], subscribed = new Set()
globalThis.capabilities = { resources: { subscribe: true }, prompts: {}, completions: {}, logging: {}, tasks: { list: {} } }
const contents = () => [{ uri: 'kept:value', text: String(kept) }]
globalThis.methods = {
  'tools/call': async ({ name, arguments: given }) => {
    if (name === 'task') return { task: { taskId: 'task-1', status: 'working' } }
    return { content: [{ type: 'text', text: JSON.stringify((await tools[name](given, say)) ?? null) }] }
  },
  'resources/list': () => ({ resources: [{ uri: 'kept:value', name: 'value' }] }),
  'resources/templates/list': () => ({ resourceTemplates: [] }),
  'resources/read': () => ({ contents: contents() }),
  'resources/subscribe': ({ uri }) => { subscribed.add(uri); return {} },
  'resources/unsubscribe': ({ uri }) => { subscribed.delete(uri); return {} },
  'prompts/list': () => ({ prompts: [{ name: 'kept' }] }),
  'prompts/get': () => ({ messages: [{ role: 'user', content: { type: 'text', text: String(kept) } }] }),
  'completion/complete': () => ({ completion: { values: [String(kept)] } }),
  'logging/setLevel': ({ level }) => { levels.push(level); return {} },
  'own/kept': () => ({ kept: String(kept) }),
  'tasks/get': ({ taskId }) => ({ taskId, status: 'working', statusMessage: String(kept) }),
  'tasks/list': () => ({ tasks: [{ taskId: 'task-1', status: 'working', statusMessage: String(kept) }] }),
}
`

/** Over stdio. */
export function stateful(sandbox: Sandbox, more: object = {}): Answer {
  return { ...ownServer(sandbox, TOOLS, BEFORE), ...more }
}

/** Over http: each session keeps its own. `open` are the sessions that nobody has ended yet. */
export async function statefulHttp(): Promise<{ url: string; open: Set<string> }> {
  const values = new Map<string, { value: unknown; count: number }>()
  const open = new Set<string>()
  const server = createServer(async (request, response) => {
    const id = String(request.headers['mcp-session-id'] ?? '')
    if (request.method === 'DELETE') {
      open.delete(id)
      response.writeHead(204).end()
      return
    }
    if (request.method !== 'POST') {
      response.writeHead(405).end()
      return
    }
    let text = ''
    for await (const chunk of request) text += chunk
    const message: Answer = JSON.parse(text)
    if (message.id === undefined) {
      response.writeHead(202).end()
      return
    }
    const kept = values.get(id) ?? { value: null, count: 0 }
    const answer = answerOf(message, kept)
    const session = message.method === 'initialize' ? randomUUID() : undefined
    if (session) {
      values.set(session, { value: null, count: 0 })
      open.add(session)
    }
    response.writeHead(200, {
      'content-type': 'application/json',
      ...(session && { 'mcp-session-id': session }),
    })
    response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, ...answer }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, open }
}

// --- internal ---

function answerOf({ method, params }: Answer, kept: { value: unknown; count: number }): object {
  switch (method) {
    case 'initialize':
      return {
        result: {
          protocolVersion: '2025-11-25',
          capabilities: { tools: {} },
          serverInfo: { name: 'kept', version: '1' },
        },
      }
    case 'ping':
      return { result: {} }
    case 'tools/list':
      return { result: { tools: ['set', 'get'].map((name) => ({ name, inputSchema: { type: 'object' } })) } }
    case 'tools/call':
      kept.count += 1
      if (params.name === 'set') kept.value = params.arguments.value
      return { result: { content: [{ type: 'text', text: JSON.stringify(kept) }] } }
    default:
      return { error: { code: -32601, message: 'Method not found' } }
  }
}
