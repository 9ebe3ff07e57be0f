// A stdio server that writes down, in the file that RECORD names, each method it is sent, and never answers a call.
import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const ANSWERS = {
  initialize: {
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'recorder', version: '1.0.0' },
  },
  'tools/list': { tools: [{ name: 'hang', inputSchema: { type: 'object' } }] },
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line)
  appendFileSync(process.env.RECORD, `${method}\n`)
  if (id === undefined || method === 'tools/call') return
  const result = ANSWERS[method]
  const answer = result ? { result } : { error: { code: -32601, message: 'unknown method' } }
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`)
})
