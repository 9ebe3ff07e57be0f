// The HTTP+SSE transport of 2024-11-05: a GET stream that names an endpoint, and POSTs to it.
import { randomUUID } from 'node:crypto'
import { readMessage, refuse } from './http-message.mjs'
import { write } from './pace.mjs'

export class OldSse {
  #connections = new Map()

  /** @param {import('./core.mjs').Server} server */
  constructor(server) {
    this.server = server
  }

  /** @param {URL} url @param {string} [path] Where the stream is. */
  async handle(request, response, url, path = '/sse') {
    if (request.method === 'GET' && url.pathname === path) return this.#open(request, response)
    if (request.method !== 'POST' || url.pathname !== '/messages') return refuse(response, 404, 'Not found')
    const connection = this.#connections.get(url.searchParams.get('sessionId'))
    if (!connection) return refuse(response, 404, 'Session not found')
    const message = await readMessage(request)
    if (message === undefined) return refuse(response, 400, 'Parse error')
    response.writeHead(202).end('Accepted')
    connection.headers = request.headers
    connection.receive(message)
  }

  #open(request, response) {
    const id = randomUUID()
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
    response.write(`event: endpoint\ndata: /messages?sessionId=${id}\n\n`)
    let tail = Promise.resolve()
    const connection = this.server.connect(
      {
        send(messages) {
          const events = messages.map((one) => event(typeof one === 'string' ? one : JSON.stringify(one)))
          tail = tail.then(() => void response.write(events.join('')))
        },
        stream(pieces) {
          tail = tail.then(() => writePieces(response, pieces))
          return tail
        },
        cut: () => response.destroy(),
      },
      { headers: request.headers },
    )
    this.#connections.set(id, connection)
    response.on('close', () => {
      this.#connections.delete(id)
      connection.close()
    })
  }
}

// --- internal ---

function event(data) {
  return `event: message\ndata: ${data}\n\n`
}

async function writePieces(response, pieces) {
  response.write('event: message\ndata: ')
  for (const piece of pieces) if (!(await write(response, piece))) return
  response.write('\n\n')
}
