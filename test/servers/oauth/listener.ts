// A listener on loopback that leaves nothing behind: what every fixture here stands on.
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Handler = (request: IncomingMessage, response: ServerResponse) => unknown

export interface Listener {
  /** `http://127.0.0.1:PORT`, without a slash. */
  origin: string
  /** Ends open connections too; idempotent. */
  close(): Promise<void>
}

/** One HTTP request as it came. */
export interface Received {
  method: string
  /** Path with query. */
  path: string
  headers: IncomingHttpHeaders
  body: string
}

/** Listens at once. The handler may need the origin, so it is made from it. */
export async function listen(makeHandler: (origin: string) => Handler): Promise<Listener> {
  let handler: Handler = (_, response) => response.writeHead(503).end()
  const server = createServer(async (request, response) => {
    try {
      await handler(request, response)
    } catch (error) {
      // A fixture that breaks must be seen in the test's output, not only as a strange answer.
      console.error('a fixture of test/servers/oauth failed:', error)
      if (response.headersSent) response.destroy()
      else response.writeHead(500).end(String(error))
    }
  })
  // Tests hold requests back for as long as they like.
  server.requestTimeout = 0
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const origin = `http://127.0.0.1:${port}`
  handler = makeHandler(origin)
  return {
    origin,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

export async function received(request: IncomingMessage): Promise<Received> {
  return {
    method: request.method ?? '',
    path: request.url ?? '/',
    headers: request.headers,
    body: await readBody(request),
  }
}

export async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

export function answerJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}
