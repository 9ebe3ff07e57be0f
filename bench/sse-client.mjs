// The same client over the old transport, for gateways that have only that: one stream for each session.
import { Agent, request } from 'node:http'
import { createInterface } from 'node:readline'

export class SseClient {
  #agent = new Agent({ keepAlive: true, maxSockets: 512 })
  #streams = []
  #target
  #id = 0

  constructor({ port, path }) {
    this.#target = { host: '127.0.0.1', port, path }
  }

  async open() {
    const session = await this.#stream()
    const info = {
      protocolVersion: '2024-11-05',
      capabilities: {},
      clientInfo: { name: 'bench', version: '1' },
    }
    await this.request(session, 'initialize', info)
    this.#post(session, { jsonrpc: '2.0', method: 'notifications/initialized' })
    return session
  }

  /** The stream is the session. */
  listen() {
    return true
  }

  request(session, method, params = {}) {
    const id = ++this.#id
    return new Promise((resolve, reject) => {
      session.waiting.set(id, { resolve, reject })
      this.#post(session, { jsonrpc: '2.0', id, method, params })
    })
  }

  close() {
    for (const stream of this.#streams) stream.on('error', () => {}).destroy()
    this.#agent.destroy()
  }

  #stream() {
    const session = { path: '', waiting: new Map() }
    return new Promise((resolve, reject) => {
      const sent = request({ ...this.#target, headers: { accept: 'text/event-stream' } }, (response) => {
        if (response.statusCode !== 200) return reject(new Error(`status ${response.statusCode}`))
        let event = ''
        const lines = createInterface({ input: response })
        // It ends with an error when the bench closes it.
        for (const source of [response, lines]) source.on('error', () => {})
        lines.on('line', (line) => {
          if (line.startsWith('event:')) event = line.slice(6).trim()
          if (!line.startsWith('data:')) return
          const data = line.slice(5).trim()
          if (event === 'endpoint') {
            session.path = data
            resolve(session)
          } else settle(session, JSON.parse(data))
        })
      })
      this.#streams.push(sent)
      sent.on('error', reject)
      sent.end()
    })
  }

  #post(session, message) {
    const body = JSON.stringify(message)
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    const failed = (error) => session.waiting.get(message.id)?.reject(error)
    const options = { ...this.#target, path: session.path, method: 'POST', agent: this.#agent, headers }
    const sent = request(options, (response) => {
      response.resume()
      if (response.statusCode >= 400) failed(new Error(`status ${response.statusCode}`))
    })
    sent.on('error', failed)
    sent.end(body)
  }
}

// --- internal ---

function settle(session, { id, result, error }) {
  const waiting = session.waiting.get(id)
  session.waiting.delete(id)
  if (error) waiting?.reject(new Error(error.message))
  else waiting?.resolve(result)
}
