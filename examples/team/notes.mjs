// A whole MCP server over stdio, without any package: notes that are kept for as long as it runs.
import { createInterface } from 'node:readline'

const notes = []
const TOOLS = [
  {
    name: 'add',
    description: 'Keep a note',
    inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  },
  {
    name: 'list',
    description: 'All notes so far',
    inputSchema: { type: 'object' },
    annotations: { readOnlyHint: true },
  },
]

function call({ name, arguments: given = {} }) {
  if (name === 'add') notes.push(given.text)
  return {
    content: [
      { type: 'text', text: notes.map((note, index) => `${index + 1}. ${note}`).join('\n') || 'none' },
    ],
  }
}

function answer(method, params) {
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'notes', version: '1.0.0' },
      }
    case 'tools/list':
      return { tools: TOOLS }
    case 'tools/call':
      return call(params)
    case 'ping':
      return {}
    default:
      return undefined
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) continue
  const result = answer(method, params)
  const reply = result ? { result } : { error: { code: -32601, message: `${method} is not known` } }
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...reply })}\n`)
}
