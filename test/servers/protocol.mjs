// Facts of the two MCP eras that every part of the test servers shares: versions, keys, error codes, small makers.

export const MODERN_VERSION = '2026-07-28'
export const LEGACY_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05']

const PREFIX = 'io.modelcontextprotocol/'
export const META = {
  version: `${PREFIX}protocolVersion`,
  capabilities: `${PREFIX}clientCapabilities`,
  client: `${PREFIX}clientInfo`,
  logLevel: `${PREFIX}logLevel`,
  server: `${PREFIX}serverInfo`,
  subscription: `${PREFIX}subscriptionId`,
}

export const CODE = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  sessionUnknown: -32001,
  resourceUnknown: -32002,
  headerMismatch: -32020,
  missingCapability: -32021,
  unsupportedVersion: -32022,
}

/** What a handler returns when it has answered by itself, or never will. */
export const NOTHING = Symbol('nothing')

/** An error that becomes a JSON-RPC error; `status` is its HTTP status in the modern era. */
export class RpcError extends Error {
  /** @param {number} code @param {string} message @param {{data?: unknown, status?: number}} [options] */
  constructor(code, message, options = {}) {
    super(message)
    this.code = code
    this.data = options.data
    this.status = options.status ?? 200
  }
}

/** @param {string | number | null} id @param {Error} error */
export function errorMessage(id, error) {
  const code = error instanceof RpcError ? error.code : CODE.internal
  const data = error instanceof RpcError ? error.data : undefined
  return { jsonrpc: '2.0', id, error: { code, message: error.message, ...(data !== undefined && { data }) } }
}

/** @param {string} method @param {object} [params] */
export function notification(method, params) {
  return { jsonrpc: '2.0', method, ...(params && { params }) }
}

/** @param {string} value @param {object} [more] A tool result of one text. */
export function text(value, more = {}) {
  return { content: [{ type: 'text', text: value }], ...more }
}

/** @param {unknown} value A tool result of one text that is JSON. */
export function json(value) {
  return text(JSON.stringify(value))
}

/** @param {Record<string, object>} [properties] @param {string[]} [required] */
export function schema(properties = {}, required = []) {
  return { type: 'object', properties, ...(required.length > 0 && { required }) }
}

/** The version a message claims in its `_meta`: only the modern era has one. @param {any} message */
export function claimedVersion(message) {
  return message?.params?._meta?.[META.version]
}

/** @param {any} message */
export function isRequest(message) {
  return typeof message?.method === 'string' && message.id !== undefined && message.id !== null
}

/** @param {any} message */
export function isResponse(message) {
  return message?.method === undefined && ('result' in message || 'error' in message)
}
