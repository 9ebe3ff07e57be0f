// The answer to one HTTP request: a JSON body if a single message is all there is, otherwise an event stream.
import { write } from './pace.mjs'

const EVENT_STREAM = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
}

/** @param {object | string} message */
function encode(message) {
  return typeof message === 'string' ? message : JSON.stringify(message)
}

export class HttpStream {
  /** Events kept for resumption: `[id, data]`. Empty when the stream has no ids. */
  events = []
  done = false
  #response
  #headers
  #ids
  #sse

  /**
   * @param {import('node:http').ServerResponse} response
   * @param {{sse?: boolean, ids?: string, headers?: object}} options `ids` is the prefix of event ids, if there are any
   */
  constructor(response, options = {}) {
    this.#response = response
    this.#sse = options.sse ?? false
    this.#ids = options.ids
    this.#headers = options.headers ?? {}
  }

  get open() {
    return this.#response !== undefined && !this.#response.destroyed
  }

  /** Starts the event stream at once; `prime` sends an empty event so that the client has an id to resume from. */
  begin(prime = false) {
    this.#start()
    if (prime && this.#ids !== undefined) this.#event('')
  }

  /** @param {(object | string)[]} messages @param {{final?: boolean, status?: number}} [route] */
  send(messages, { final = false, status = 200 } = {}) {
    if (this.done) return
    this.done = final
    if (final && messages.length === 1 && !this.#sse && this.#started === false) {
      if (!this.open) return
      this.#response.writeHead(status, { ...this.#headers, 'content-type': 'application/json' })
      this.#response.end(encode(messages[0]))
      return
    }
    this.#start()
    for (const message of messages) this.#event(encode(message))
    if (final) this.#response?.end()
  }

  /** @param {Iterable<string>} pieces One message, at the pace of the reader. */
  async stream(pieces) {
    const response = this.#response
    this.done = true
    const asEvents = this.#sse || this.#started
    if (asEvents) this.#start()
    else response.writeHead(200, { ...this.#headers, 'content-type': 'application/json' })
    if (asEvents) response.write('event: message\ndata: ')
    for (const piece of pieces) if (!(await write(response, piece))) return
    response.end(asEvents ? '\n\n' : '')
  }

  /** Breaks the connection without an end. Later events are kept for resumption. */
  cut() {
    // Whatever was written must arrive before the break.
    const response = this.#response
    this.#response = undefined
    response?.write('', () => response.destroy())
  }

  /** Goes on with another response, after the event of that id, or else with what nobody has received yet. */
  resume(response, lastId) {
    this.#response = response
    this.#started = false
    this.#start()
    const from = lastId === undefined ? this.#written : this.events.findIndex(([id]) => id === lastId) + 1
    for (const [id, data] of this.events.slice(from)) this.#write(id, data)
    if (this.done) response.end()
  }

  end() {
    this.done = true
    this.#response?.end()
  }

  // --- internal ---

  #started = false
  // How many of the kept events went out at least once.
  #written = 0

  #start() {
    if (this.#started) return
    this.#started = true
    if (this.open) this.#response.writeHead(200, { ...this.#headers, ...EVENT_STREAM }).flushHeaders()
  }

  #event(data) {
    const id = this.#ids === undefined ? undefined : `${this.#ids}_${this.events.length}`
    if (id !== undefined) this.events.push([id, data])
    this.#write(id, data)
  }

  #write(id, data) {
    if (!this.open) return
    this.#written = this.events.length
    // JSON has no raw line breaks, so one data line always suffices.
    const head = id === undefined ? '' : `id: ${id}\n`
    this.#response.write(data === '' ? `${head}data: \n\n` : `event: message\n${head}data: ${data}\n\n`)
  }
}
