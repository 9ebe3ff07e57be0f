// A request's body, up to a limit.

import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { Fault } from '../base/fault.ts'
import { refuseAt } from './refuse.ts'

/** For those who say no other. */
const LIMIT = 16 * 1024 * 1024

/** The whole body; undefined when it cannot be read or the client went away, and the answer has been given. */
export function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  limit: number = LIMIT,
): Promise<Buffer | undefined> {
  const refuse = (status: number, fault: Fault) => refuseAt(request.url ?? '', response, status, fault)
  const problem = codingProblem(request.headers)
  if (problem !== undefined) {
    refuse(problem.status, problem.fault)
    return Promise.resolve(undefined)
  }
  return new Promise((resolve) => {
    const parts: Buffer[] = []
    let size = 0
    const stop = () => {
      response.setHeader('connection', 'close')
      response.once('finish', () => request.destroy())
      refuse(413, new Fault('MESSAGE_TOO_LARGE', `the request is larger than ${limit} bytes`))
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

// --- internal ---

/** Bodies are read as they come: nothing is unpacked, so that a small one cannot become a large one here. */
function codingProblem({
  'content-encoding': content = 'identity',
  'transfer-encoding': transfer = 'chunked',
}: IncomingHttpHeaders): { readonly status: number; readonly fault: Fault } | undefined {
  const hint = 'send it as it is'
  if (content.trim().toLowerCase() !== 'identity') {
    const message = `the content encoding ${JSON.stringify(content)} is not understood`
    return { status: 415, fault: new Fault('USAGE', message, { hint }) }
  }
  if (transfer.trim().toLowerCase() === 'chunked') return undefined
  const message = `the transfer encoding ${JSON.stringify(transfer)} is not understood`
  return { status: 501, fault: new Fault('USAGE', message, { hint }) }
}
