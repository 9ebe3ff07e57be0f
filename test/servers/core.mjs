// The protocol core without any SDK: a server (one mode, shared state) and its connections (one client each).
import { randomUUID } from 'node:crypto'
import { Call } from './call.mjs'
import { LEGACY_METHODS, MODERN_METHODS, SHARED_METHODS } from './methods.mjs'
import {
  CODE,
  claimedVersion,
  errorMessage,
  isRequest,
  isResponse,
  LEGACY_VERSIONS,
  META,
  MODERN_VERSION,
  NOTHING,
  notification,
  RpcError,
} from './protocol.mjs'

/**
 * Where the messages of one connection go. `about` names the request a message belongs to, `final` says it is the
 * last one about it; only HTTP needs both. A message is an object or ready JSON text.
 * @typedef {object} Channel
 * @property {(messages: (object | string)[], route?: Route) => void} send All in one write.
 * @property {(pieces: Iterable<string>, route?: Route) => Promise<void>} stream One message, waiting for the reader.
 * @property {(bytes: string | Uint8Array) => Promise<void>} [raw] Bytes outside any message; stdio only.
 * @property {(about: string | number) => void} [cut] Breaks the stream of a request; HTTP only.
 *
 * @typedef {{about?: string | number, final?: boolean, status?: number}} Route
 *
 * What a mode gives; see README.md for what each does with it.
 * @typedef {object} Mode
 * @property {string} [instructions]
 * @property {object} [info] What it says of itself beside its name and version.
 * @property {object[] | (() => object[])} [tools]
 * @property {object[] | (() => object[])} [resources]
 * @property {object[] | (() => object[])} [templates]
 * @property {object[] | (() => object[])} [prompts]
 * @property {(reference: object, argument: {name: string, value: string}) => string[]} [complete]
 * @property {Record<string, (params: object, call: Call) => unknown>} [handlers] Replace methods of the core.
 * @property {(message: object, connection: Connection) => boolean | undefined} [receive] True swallows the message.
 * @property {(server: Server) => void} [start] Once, when the process starts to serve.
 * @property {boolean} [survives] Ignores SIGTERM, SIGINT and the end of stdin.
 * @property {boolean} [staysOpen] Does not notice the end of stdin; a signal ends it.
 * @property {number} [pageSize]
 * @property {'legacy'} [era] For servers that only exist in one era.
 * @property {{before?: string, write?: Function}} [stdio]
 * @property {HttpQuirks} [http]
 *
 * `before` sees each HTTP request, `message` each POST with its body; true means that it was dealt with.
 * @typedef {{before?: Function, message?: Function, sse?: boolean, eventIds?: boolean}} HttpQuirks
 */

/** One mode with its options; holds what all connections share. */
export class Server {
  connections = new Set()
  subscriptions = new Set()

  /** @param {Mode} mode @param {{name: string, era: string, protocol?: string}} options */
  constructor(mode, options) {
    this.mode = mode
    this.options = options
    this.info = { name: options.name, version: '1.0.0', ...mode.info }
    this.era = mode.era ?? options.era
    this.legacyVersions = options.protocol ? [options.protocol] : LEGACY_VERSIONS
  }

  get legacy() {
    return this.era !== 'modern'
  }

  get modern() {
    return this.era !== 'legacy'
  }

  capabilities() {
    const { tools, resources, templates, prompts, complete } = this.mode
    return {
      ...(tools && { tools: { listChanged: true } }),
      ...((resources || templates) && { resources: { listChanged: true, subscribe: true } }),
      ...(prompts && { prompts: { listChanged: true } }),
      ...(complete && { completions: {} }),
      logging: {},
    }
  }

  /** @param {Channel} channel @param {{headers?: object, modern?: boolean}} [details] */
  connect(channel, details = {}) {
    const connection = new Connection(this, channel, details)
    this.connections.add(connection)
    return connection
  }

  /**
   * Tells every client that a list (or, with a uri, one resource) changed, each in the way of its era.
   * @param {'tools' | 'prompts' | 'resources'} kind @param {string} [uri]
   */
  changed(kind, uri) {
    const method = uri ? 'notifications/resources/updated' : `notifications/${kind}/list_changed`
    for (const connection of this.connections) {
      if (!connection.ready || (uri && !connection.watched.has(uri))) continue
      connection.channel.send([notification(method, uri && { uri })])
    }
    for (const { connection, id, filter } of this.subscriptions) {
      const wanted = uri ? filter.resourceSubscriptions?.includes(uri) : filter[`${kind}ListChanged`]
      if (!wanted) continue
      const params = { ...(uri && { uri }), _meta: { [META.subscription]: id } }
      connection.channel.send([notification(method, params)], { about: id })
    }
  }
}

/** One client: a stdio pipe, a socket, a legacy HTTP session, or a single modern HTTP request. */
export class Connection {
  /** True once a legacy client said `notifications/initialized`. */
  ready = false
  /** Resources a legacy client subscribed to. */
  watched = new Set()
  logLevel = 'info'
  clientCapabilities = {}
  #running = new Map()
  #asked = new Map()

  /** @param {Server} server @param {Channel} channel @param {{headers?: object, modern?: boolean}} details */
  constructor(server, channel, details) {
    this.server = server
    this.channel = channel
    this.headers = details.headers ?? {}
    // Over HTTP the headers have decided already.
    this.modern = details.modern ?? false
  }

  /** @param {any} message One parsed message, or an array of them as revision 2025-03-26 allowed. */
  receive(message) {
    if (Array.isArray(message)) {
      for (const one of message) this.receive(one)
      return
    }
    if (typeof message !== 'object' || message === null)
      return this.#refuse(null, CODE.invalidRequest, 'Invalid Request')
    if (this.server.mode.receive?.(message, this)) return
    if (isRequest(message)) void this.#answer(message)
    else if (isResponse(message)) this.#settle(message)
    else if (typeof message.method === 'string') this.#note(message)
    else this.#refuse(message.id ?? null, CODE.invalidRequest, 'Invalid Request')
  }

  malformed() {
    this.#refuse(null, CODE.parse, 'Parse error')
  }

  /**
   * Asks the client something; legacy only, as the modern era has no requests from the server.
   * @param {string} method @param {object} [params] @param {string | number} [about]
   */
  request(method, params, about) {
    const id = `server-${randomUUID()}`
    return new Promise((resolve, reject) => {
      this.#asked.set(id, { resolve, reject })
      this.channel.send([{ jsonrpc: '2.0', id, method, ...(params && { params }) }], { about })
    })
  }

  /** Stops whatever runs for this client. Calls end without an answer. */
  close() {
    this.server.connections.delete(this)
    for (const one of this.server.subscriptions)
      if (one.connection === this) this.server.subscriptions.delete(one)
    for (const controller of this.#running.values()) controller.abort()
    for (const { reject } of this.#asked.values()) reject(new Error('connection closed'))
    this.#asked.clear()
  }

  // --- internal ---

  async #answer(message) {
    const controller = new AbortController()
    this.#running.set(message.id, controller)
    const route = { about: message.id, final: true }
    const modern = this.#isModern(message)
    try {
      const call = new Call(this, message, modern, controller.signal)
      const result = await this.#handler(message, modern)(message.params ?? {}, call)
      // A cancelled request gets no answer in either era.
      if (result === NOTHING || controller.signal.aborted) return
      if (typeof result === 'string') this.channel.send([result], route)
      else
        this.channel.send(
          [{ jsonrpc: '2.0', id: message.id, result: modern ? this.#stamp(result) : result }],
          route,
        )
    } catch (error) {
      if (controller.signal.aborted) return
      this.channel.send([errorMessage(message.id, error)], { ...route, status: error.status })
    } finally {
      this.#running.delete(message.id)
    }
  }

  #isModern(message) {
    if (!this.server.modern) return false
    if (!this.server.legacy || this.modern) return true
    return claimedVersion(message) !== undefined || message.method in MODERN_METHODS
  }

  #handler(message, modern) {
    const { method } = message
    if (modern) this.#checkEnvelope(message)
    const table = modern ? MODERN_METHODS : LEGACY_METHODS
    const handler =
      this.server.mode.handlers?.[method] ??
      (Object.hasOwn(table, method) ? table[method] : undefined) ??
      (Object.hasOwn(SHARED_METHODS, method) ? SHARED_METHODS[method] : undefined)
    if (!handler) throw new RpcError(CODE.methodNotFound, `Method not found: ${method}`, { status: 404 })
    return handler
  }

  #checkEnvelope(message) {
    const meta = message.params?._meta
    const requested =
      meta?.[META.version] ?? (message.method === 'initialize' && message.params?.protocolVersion)
    if (requested && requested !== MODERN_VERSION) {
      const data = { supported: [MODERN_VERSION], requested }
      throw new RpcError(CODE.unsupportedVersion, 'Unsupported protocol version', { data, status: 400 })
    }
    for (const key of [META.version, META.capabilities]) {
      if (meta?.[key] !== undefined) continue
      throw new RpcError(CODE.invalidParams, `Invalid params: _meta["${key}"] is missing`, { status: 400 })
    }
  }

  #stamp(result) {
    return {
      resultType: 'complete',
      ...result,
      _meta: { ...result._meta, [META.server]: this.server.info },
    }
  }

  #note(message) {
    if (message.method === 'notifications/initialized') this.ready = true
    if (message.method !== 'notifications/cancelled') return
    const id = message.params?.requestId
    this.#running.get(id)?.abort()
    for (const one of this.server.subscriptions) {
      if (one.connection === this && one.id === id) this.server.subscriptions.delete(one)
    }
  }

  #settle(message) {
    const waiting = this.#asked.get(message.id)
    if (!waiting) return
    this.#asked.delete(message.id)
    if ('error' in message) waiting.reject(new RpcError(message.error?.code, message.error?.message))
    else waiting.resolve(message.result)
  }

  #refuse(id, code, reason) {
    this.channel.send([errorMessage(id, new RpcError(code, reason))], { final: true, status: 400 })
  }
}
