// The floor: an MCP server with nothing in it but one tool, over stdio or HTTP, in both eras. TOOLS in its environment
// adds that many more to the list.
import { createServer } from 'node:http'

const LINE = '{"id": 417, "title": "Fix the flaky test — naïve retry", "body": "see C:\\temp"}\n'
const texts = new Map()

function text(size) {
  if (!texts.has(size)) texts.set(size, LINE.repeat(Math.ceil(size / LINE.length)).slice(0, size))
  return texts.get(size)
}

const INPUT = { type: 'object', properties: { size: { type: 'number' } }, required: ['size'] }
const TOOLS = [{ name: 'text', description: 'text of a size', inputSchema: INPUT }]
for (let number = 0; number < Number(process.env.TOOLS ?? 0); number++)
  TOOLS.push({
    name: `tool_${number}`,
    description: `Tool number ${number}, which does nothing and says so in about as many words as tools do.`,
    inputSchema: INPUT,
  })
const ABOUT = { capabilities: { tools: {} }, serverInfo: { name: 'echo', version: '1' } }

function answer({ id, method, params }) {
  if (id === undefined) return undefined
  switch (method) {
    case 'initialize':
      return { jsonrpc: '2.0', id, result: { protocolVersion: params.protocolVersion, ...ABOUT } }
    case 'server/discover':
      return {
        jsonrpc: '2.0',
        id,
        result: { supportedVersions: ['2026-07-28'], ttlMs: 0, cacheScope: 'private', ...ABOUT },
      }
    case 'tools/list':
      return { jsonrpc: '2.0', id, result: { tools: TOOLS, ttlMs: 0, cacheScope: 'private' } }
    case 'tools/call':
      return {
        jsonrpc: '2.0',
        id,
        result: { content: [{ type: 'text', text: text(params.arguments.size) }] },
      }
    case 'ping':
      return { jsonrpc: '2.0', id, result: {} }
    default:
      return { jsonrpc: '2.0', id, error: { code: -32601, message: 'not known' } }
  }
}

if (process.argv[2] === 'http') {
  const server = createServer((request, response) => {
    if (request.method !== 'POST') return response.writeHead(405).end()
    const parts = []
    request.on('data', (part) => parts.push(part))
    request.on('end', () => {
      const reply = answer(JSON.parse(Buffer.concat(parts)))
      if (reply === undefined) return response.writeHead(202).end()
      const body = JSON.stringify(reply)
      response.writeHead(200, {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      })
      response.end(body)
    })
  })
  server.listen(0, '127.0.0.1', () => console.log(JSON.stringify({ port: server.address().port })))
} else {
  let rest = ''
  process.stdin.setEncoding('utf8')
  process.stdin.on('data', (chunk) => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop()
    for (const line of lines) {
      const reply = answer(JSON.parse(line))
      if (reply !== undefined) process.stdout.write(`${JSON.stringify(reply)}\n`)
    }
  })
  process.stdin.on('end', () => process.exit(0))
}
