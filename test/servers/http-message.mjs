// Reading a message from an HTTP request, and refusing one.
import { errorMessage, RpcError } from './protocol.mjs'

/** A JSON-RPC error without id, as an HTTP refusal. */
export function refuse(response, status, reason, code = -32000) {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(errorMessage(null, new RpcError(code, reason))))
}

/** The parsed body, or undefined when it is no JSON. @param {import('node:http').IncomingMessage} request */
export async function readMessage(request) {
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'))
  } catch {
    return undefined
  }
}
