// The answers a hostile server can give: proper ones, broken ones, and ones without end.
import type { ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'

interface Head {
  /** 200 unless told; 302 for a redirect. */
  status?: number
  headers?: Record<string, string>
}

export type Reply =
  /** `undefined` members are left out. */
  | (Head & { json: unknown })
  /** Whatever text, whatever it claims to be. */
  | (Head & { text: string })
  | (Head & { redirect: string })
  /** A JSON document of about so many bytes, sent as fast as it is read. */
  | (Head & { huge: number })
  /** A JSON document that never ends, sent as fast as it is read. */
  | (Head & { endless: true })
  /** The text a character at a time, with so many milliseconds between. */
  | (Head & { drip: string; everyMs: number })
  /** The beginning of a body, then a broken connection. */
  | (Head & { cut: string })
  /** No answer at all, or only its headers. */
  | (Head & { hang: 'request' | 'body' })

export async function send(response: ServerResponse, reply: Reply): Promise<void> {
  if ('hang' in reply && reply.hang === 'request') return
  const { status = 'redirect' in reply ? 302 : 200, headers = {} } = reply
  const location = 'redirect' in reply ? { location: reply.redirect } : {}
  response.writeHead(status, { 'content-type': 'application/json', ...location, ...headers })
  if ('json' in reply) response.end(JSON.stringify(reply.json))
  else if ('text' in reply) response.end(reply.text)
  else if ('redirect' in reply) response.end()
  else if ('hang' in reply) response.flushHeaders()
  else if ('cut' in reply) response.write(reply.cut, () => response.destroy())
  else if ('drip' in reply) await drip(response, reply)
  else await pour(response, 'huge' in reply ? reply.huge : Number.POSITIVE_INFINITY)
}

// --- internal ---

async function drip(response: ServerResponse, reply: { drip: string; everyMs: number }): Promise<void> {
  for (const character of reply.drip) {
    response.write(character)
    await pause(response, reply.everyMs)
    if (response.destroyed) return
  }
  response.end()
}

/** Ends with the connection too, so that no timer outlives it. */
function pause(response: ServerResponse, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      response.off('close', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    response.on('close', done)
  })
}

const CHUNK = 'a'.repeat(65_536)

async function pour(response: ServerResponse, bytes: number): Promise<void> {
  try {
    await pipeline(filler(bytes), response)
  } catch (error) {
    // The reader has gone, as it should.
    if (!(error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE'))
      throw error
  }
}

function* filler(bytes: number): Generator<string> {
  yield '{"filler":"'
  for (let sent = 0; sent < bytes; sent += CHUNK.length) yield CHUNK
  yield '"}'
}
