// A bare client over streamable HTTP, legacy era: what it costs is the same for every gateway.
import { Agent, request } from 'node:http'

const VERSION = '2025-06-18'

export class HttpClient {
  #agent = new Agent({ keepAlive: true, maxSockets: 512 })
  #streams = []
  #target
  #headers
  #id = 0

  constructor({ port, path, headers = {} }) {
    this.#target = { host: '127.0.0.1', port, path, agent: this.#agent }
    this.#headers = headers
  }

  /** A session as the gateway gives one; where it gives none, every request stands for itself. */
  async open() {
    const info = { protocolVersion: VERSION, capabilities: {}, clientInfo: { name: 'bench', version: '1' } }
    const { message, session } = await this.#post('initialize', info)
    const version = message.result.protocolVersion
    const opened = { 'mcp-protocol-version': version, ...(session ? { 'mcp-session-id': session } : {}) }
    await this.#send({ jsonrpc: '2.0', method: 'notifications/initialized' }, opened)
    return opened
  }

  /** Keeps the stream of a session open, as clients do; whether that was let. Without a session there is none. */
  listen(session) {
    if (session['mcp-session-id'] === undefined) return true
    const headers = { ...this.#headers, ...session, accept: 'text/event-stream' }
    return new Promise((resolve, reject) => {
      const sent = request({ ...this.#target, agent: false, method: 'GET', headers }, (response) => {
        this.#streams.push(sent)
        response.on('error', () => {}).resume()
        resolve(response.statusCode === 200)
      })
      sent.on('error', reject)
      sent.end()
    })
  }

  async request(session, method, params = {}) {
    const { message } = await this.#post(method, params, session)
    if (message.error) throw new Error(`${method}: ${message.error.message}`)
    return message.result
  }

  close() {
    for (const stream of this.#streams) stream.on('error', () => {}).destroy()
    this.#agent.destroy()
  }

  async #post(method, params, session = {}) {
    const id = ++this.#id
    const { body, headers } = await this.#send({ jsonrpc: '2.0', id, method, params }, session)
    return { message: messageIn(body, headers['content-type'], id), session: headers['mcp-session-id'] }
  }

  #send(message, session) {
    const body = JSON.stringify(message)
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'content-length': Buffer.byteLength(body),
      ...this.#headers,
      ...session,
    }
    return new Promise((resolve, reject) => {
      const sent = request({ ...this.#target, method: 'POST', headers }, (response) => {
        const parts = []
        response.on('data', (part) => parts.push(part))
        response.on('error', reject)
        response.on('end', () => {
          const whole = Buffer.concat(parts)
          if (response.statusCode < 300) resolve({ body: whole, headers: response.headers })
          else reject(new Error(`status ${response.statusCode}: ${whole.toString().slice(0, 200)}`))
        })
      })
      sent.on('error', reject)
      sent.end(body)
    })
  }
}

// --- internal ---

function messageIn(body, type = '', id) {
  if (!type.includes('text/event-stream')) return JSON.parse(body)
  for (const event of body.toString().split(/\r?\n\r?\n/)) {
    const data = event.split(/\r?\n/).flatMap((line) => (line.startsWith('data:') ? [line.slice(5)] : []))
    const message = data.length > 0 && JSON.parse(data.join('\n'))
    if (message && message.id === id) return message
  }
  throw new Error('the stream has no answer')
}
