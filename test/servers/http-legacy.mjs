// Streamable HTTP as of 2025-11-25 and before: sessions, a standing GET stream, DELETE, resumption by event ids.
import { randomUUID } from 'node:crypto'
import { refuse } from './http-message.mjs'
import { HttpStream } from './http-stream.mjs'
import { CODE, isRequest } from './protocol.mjs'

const STANDING = 'standing'

export class LegacyHttp {
  #sessions = new Map()

  /** @param {import('./core.mjs').Server} server @param {{sse: boolean}} options */
  constructor(server, options) {
    this.server = server
    this.sse = options.sse || server.mode.http?.sse === true
    this.eventIds = server.mode.http?.eventIds !== false
    // For modes that lose their sessions.
    server.forgetSessions = () => this.#sessions.clear()
  }

  /** @param {any} [message] The body of a POST. */
  handle(request, response, message) {
    if (request.method === 'POST' && message.method === 'initialize')
      return this.#open(request, response, message)
    const id = request.headers['mcp-session-id']
    if (id === undefined) return refuse(response, 400, 'Bad Request: Server not initialized')
    const session = this.#sessions.get(id)
    if (!session) return refuse(response, 404, 'Session not found', CODE.sessionUnknown)
    const version = request.headers['mcp-protocol-version']
    if (version !== undefined && !this.server.legacyVersions.includes(version)) {
      return refuse(response, 400, `Bad Request: Unsupported protocol version: ${version}`)
    }
    if (request.method === 'POST') return session.post(request, response, message)
    if (request.method === 'GET') return session.get(request, response)
    if (request.method !== 'DELETE') return response.writeHead(405, { allow: 'GET, POST, DELETE' }).end()
    this.#sessions.delete(id)
    session.close()
    response.writeHead(200).end()
  }

  #open(request, response, message) {
    const session = new Session(this)
    this.#sessions.set(session.id, session)
    session.post(request, response, message)
  }
}

class Session {
  id = randomUUID()
  #streams = new Map()
  #owners = new Map()
  #next = 0

  /** @param {LegacyHttp} owner */
  constructor(owner) {
    this.owner = owner
    this.#addStanding()
    this.connection = owner.server.connect({
      send: (messages, route = {}) => this.#streamOf(route.about).send(messages, { ...route, status: 200 }),
      stream: (pieces, route) => this.#streamOf(route?.about).stream(pieces),
      cut: (about) => this.#streamOf(about).cut(),
    })
  }

  post(request, response, message) {
    const accept = request.headers.accept ?? ''
    if (!accept.includes('application/json') || !accept.includes('text/event-stream')) {
      return refuse(
        response,
        406,
        'Not Acceptable: Client must accept application/json and text/event-stream',
      )
    }
    this.connection.headers = request.headers
    if (!isRequest(message)) {
      response.writeHead(202).end()
      return this.connection.receive(message)
    }
    const name = `stream-${this.#next++}`
    const stream = new HttpStream(response, {
      sse: this.owner.sse,
      headers: { 'mcp-session-id': this.id },
      ...(this.owner.eventIds && { ids: name }),
    })
    this.#streams.set(name, stream)
    this.#owners.set(message.id, stream)
    // What has arrived as a whole need not be kept for resumption.
    response.on('close', () => {
      if (!response.writableFinished) return
      this.#streams.delete(name)
      if (this.#owners.get(message.id) === stream) this.#owners.delete(message.id)
    })
    // Clients before 2025-11-25 take an empty event for a broken message.
    if (this.owner.sse && this.connection.version === '2025-11-25') stream.begin(true)
    this.connection.receive(message)
  }

  get(request, response) {
    if (!request.headers.accept?.includes('text/event-stream')) return refuse(response, 406, 'Not Acceptable')
    const last = request.headers['last-event-id']
    const name = last?.slice(0, last.lastIndexOf('_'))
    if (last !== undefined && !this.#streams.has(name)) return refuse(response, 400, 'Unknown event id')
    const stream = this.#streams.get(name ?? STANDING)
    if (name === undefined && stream.open)
      return refuse(response, 409, 'Only one SSE stream is allowed per session')
    stream.resume(response, last)
  }

  close() {
    this.connection.close()
    for (const stream of this.#streams.values()) stream.end()
  }

  // --- internal ---

  // Messages about no request wait here until the client opens its GET stream.
  #addStanding() {
    this.#streams.set(
      STANDING,
      new HttpStream(undefined, { sse: true, ids: STANDING, headers: { 'mcp-session-id': this.id } }),
    )
  }

  #streamOf(about) {
    return this.#owners.get(about) ?? this.#streams.get(STANDING)
  }
}
