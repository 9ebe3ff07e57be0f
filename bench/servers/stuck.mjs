// An MCP server with one tool that never answers.
import { createInterface } from 'node:readline'

const ABOUT = { capabilities: { tools: {} }, serverInfo: { name: 'stuck', version: '1' } }
const TOOLS = [{ name: 'hang', inputSchema: { type: 'object' } }]

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const { id, method, params } = JSON.parse(line)
    if (id === undefined || method === 'tools/call') return
    const known = {
      initialize: () => ({ protocolVersion: params.protocolVersion, ...ABOUT }),
      'tools/list': () => ({ tools: TOOLS }),
      ping: () => ({}),
    }[method]
    const answer = known ? { result: known() } : { error: { code: -32601, message: 'not known' } }
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`)
  })
  .on('close', () => process.exit(0))
