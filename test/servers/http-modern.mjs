// Streamable HTTP as of 2026-07-28: each POST stands alone, and its headers must agree with its body.
import { refuse } from './http-message.mjs'
import { HttpStream } from './http-stream.mjs'
import { items } from './methods.mjs'
import { CODE, claimedVersion, errorMessage, isRequest, MODERN_VERSION, RpcError } from './protocol.mjs'

const NAMED = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
}

export class ModernHttp {
  /** @param {import('./core.mjs').Server} server @param {{sse: boolean}} options */
  constructor(server, options) {
    this.server = server
    this.sse = options.sse || server.mode.http?.sse === true
  }

  handle(request, response, message) {
    const stream = new HttpStream(response, { sse: this.sse })
    const connection = this.server.connect(
      {
        send: (messages, route) => stream.send(messages, route),
        stream: (pieces) => stream.stream(pieces),
        cut: () => stream.cut(),
      },
      { headers: request.headers, modern: true },
    )
    // Closing the response is how a modern client cancels; it also ends a subscription.
    response.on('close', () => connection.close())
    if (Array.isArray(message)) return refuse(response, 400, 'Batches are not supported', CODE.invalidRequest)
    if (!isRequest(message)) {
      response.writeHead(202).end()
      return connection.receive(message)
    }
    const mismatch = headerProblem(this.server, request.headers, message)
    if (mismatch) {
      const error = new RpcError(CODE.headerMismatch, `Header mismatch: ${mismatch}`)
      return stream.send([errorMessage(message.id, error)], { final: true, status: 400 })
    }
    connection.receive(message)
  }
}

// --- internal ---

// Whether the version itself is supported, and whether it is there at all, is for the core to say.
function headerProblem(server, headers, { method, params }) {
  const claimed = claimedVersion({ params })
  if (claimed === undefined) return undefined
  const version = headers['mcp-protocol-version']
  if (version !== claimed) return `MCP-Protocol-Version is ${version}, the body says ${claimed}`
  if (claimed !== MODERN_VERSION) return undefined
  if (headers['mcp-method'] !== method)
    return `Mcp-Method is ${headers['mcp-method']}, the body says ${method}`
  const name = params?.[NAMED[method]]
  if (name !== undefined && decode(headers['mcp-name']) !== name) {
    return `Mcp-Name is ${headers['mcp-name']}, the body says ${name}`
  }
  if (method !== 'tools/call') return undefined
  return parameterProblem(server, headers, params)
}

function parameterProblem(server, headers, params) {
  const tool = items(server.mode.tools).find((one) => one.name === params.name)
  for (const [key, property] of Object.entries(tool?.inputSchema.properties ?? {})) {
    const header = property['x-mcp-header']
    if (header === undefined) continue
    const value = params.arguments?.[key]
    const given = decode(headers[`mcp-param-${header.toLowerCase()}`])
    const expected = value === undefined || value === null ? undefined : String(value)
    if (given !== expected) return `Mcp-Param-${header} is ${given}, the body says ${expected}`
  }
  return undefined
}

function decode(value) {
  const match = /^=\?base64\?(.*)\?=$/.exec(value ?? '')
  return match ? Buffer.from(match[1], 'base64').toString('utf8') : value
}
