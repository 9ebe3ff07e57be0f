// What a handler knows and can do about the one request it is answering, in the same way for both eras.
import { CODE, META, notification, RpcError } from './protocol.mjs'

const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency']
const NEEDS = {
  'elicitation/create': 'elicitation',
  'sampling/createMessage': 'sampling',
  'roots/list': 'roots',
}

/** Thrown by `Call.ask` in the modern era; the method table turns it into an `input_required` result. */
export class InputRequired extends Error {
  /** @param {Record<string, object>} inputRequests @param {string} requestState */
  constructor(inputRequests, requestState) {
    super('input required')
    this.result = { resultType: 'input_required', inputRequests, requestState }
  }
}

export class Call {
  /** @param {import('./core.mjs').Connection} connection @param {any} message @param {boolean} modern @param {AbortSignal} signal */
  constructor(connection, message, modern, signal) {
    this.connection = connection
    this.server = connection.server
    this.message = message
    this.id = message.id
    this.modern = modern
    this.signal = signal
    this.meta = message.params?._meta ?? {}
    this.headers = connection.headers
  }

  get capabilities() {
    return (this.modern ? this.meta[META.capabilities] : this.connection.clientCapabilities) ?? {}
  }

  /** Sends messages about this request, all in one write. @param {(object | string)[]} messages @param {boolean} [final] */
  send(messages, final = false) {
    this.connection.channel.send(messages, { about: this.id, final })
  }

  /** Sends the answer in pieces, at the pace of the reader. @param {Iterable<string>} pieces */
  stream(pieces) {
    return this.connection.channel.stream(pieces, { about: this.id, final: true })
  }

  /** The answer as a message, stamped as the era wants. @param {any} result */
  answer(result) {
    const stamped = {
      resultType: 'complete',
      ...result,
      _meta: { ...result._meta, [META.server]: this.server.info },
    }
    return { jsonrpc: '2.0', id: this.id, result: this.modern ? stamped : result }
  }

  /** A progress notification, or undefined when the client asked for none. */
  progressMessage(progress, total, message) {
    const { progressToken } = this.meta
    if (progressToken === undefined) return undefined
    return notification('notifications/progress', {
      progressToken,
      progress,
      total,
      ...(message && { message }),
    })
  }

  progress(progress, total, message) {
    const update = this.progressMessage(progress, total, message)
    if (update) this.send([update])
  }

  /** Sends a log line if the client wants that level; the modern era names the level in each request. */
  log(level, data) {
    const wanted = this.modern ? this.meta[META.logLevel] : this.connection.logLevel
    if (wanted === undefined || LEVELS.indexOf(level) < LEVELS.indexOf(wanted)) return
    this.send([notification('notifications/message', { level, logger: this.server.info.name, data })])
  }

  /**
   * Asks the client for one input and gives its answer. Legacy: a pushed request. Modern: the first pass throws
   * `InputRequired`, the retry finds the answer. `key` must be unique within the tool.
   * @param {string} key @param {string} method @param {object} [params]
   */
  async ask(key, method, params) {
    this.#require(NEEDS[method], params)
    if (!this.modern) return this.connection.request(method, params, this.id)
    const { inputResponses, requestState } = this.message.params
    const state = Buffer.from(JSON.stringify({ key, name: this.message.params.name })).toString('base64url')
    if (inputResponses === undefined)
      throw new InputRequired({ [key]: { method, ...(params && { params }) } }, state)
    if (requestState !== state)
      throw new RpcError(CODE.invalidParams, 'requestState is not the one given out')
    if (inputResponses[key] === undefined)
      throw new RpcError(CODE.invalidParams, `inputResponses lacks ${key}`)
    return inputResponses[key]
  }

  // A server must not ask for what the client did not offer.
  #require(need, params) {
    const offered = this.capabilities[need]
    const mode = params?.mode
    if (offered !== undefined && (mode === undefined || offered[mode] !== undefined)) return
    const data = { requiredCapabilities: { [need]: mode ? { [mode]: {} } : {} } }
    const code = this.modern ? CODE.missingCapability : CODE.invalidRequest
    throw new RpcError(code, `The client does not offer ${need}`, { data, status: 400 })
  }
}
