// A request's body, up to a limit.

import type { IncomingMessage, ServerResponse } from 'node:http'

/** For those who say no other. */
const LIMIT = 16 * 1024 * 1024

/** The whole body; undefined when it was too large or the client went away, and the answer has been given. */
export function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  limit: number = LIMIT,
): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    const parts: Buffer[] = []
    let size = 0
    const stop = () => {
      const text = JSON.stringify({ error: `the request is larger than ${limit} bytes` })
      response.writeHead(413, { 'content-type': 'application/json', connection: 'close' })
      response.end(text, () => request.destroy())
      resolve(undefined)
    }
    if (Number(request.headers['content-length'] ?? 0) > limit) return stop()
    request.on('data', (part: Buffer) => {
      size += part.length
      if (size <= limit) parts.push(part)
      else if (!response.headersSent) stop()
    })
    request.on('end', () => {
      const [first] = parts
      resolve(parts.length === 1 && first ? first : Buffer.concat(parts))
    })
    request.on('error', () => resolve(undefined))
    request.on('close', () => resolve(undefined))
  })
}
