// The MCP methods a server answers, by era. Each gets the request's params and the Call.
import { InputRequired } from './call.mjs'
import { CODE, META, MODERN_VERSION, NOTHING, notification, RpcError, text } from './protocol.mjs'

// Short-lived and private: right for a server whose lists may change at any call.
const CACHE = { ttlMs: 1000, cacheScope: 'private' }

export const LEGACY_METHODS = {
  initialize(params, call) {
    const { server, connection } = call
    connection.clientCapabilities = params.capabilities ?? {}
    connection.clientInfo = params.clientInfo
    const known = server.legacyVersions.includes(params.protocolVersion)
    connection.version = known ? params.protocolVersion : server.legacyVersions[0]
    return {
      protocolVersion: connection.version,
      capabilities: server.capabilities(),
      serverInfo: server.info,
      ...(server.mode.instructions && { instructions: server.mode.instructions }),
    }
  },
  ping: () => ({}),
  'logging/setLevel'(params, call) {
    call.connection.logLevel = params.level
    return {}
  },
  'resources/subscribe'(params, call) {
    call.connection.watched.add(params.uri)
    return {}
  },
  'resources/unsubscribe'(params, call) {
    call.connection.watched.delete(params.uri)
    return {}
  },
}

export const MODERN_METHODS = {
  'server/discover'(_params, { server }) {
    return {
      supportedVersions: [MODERN_VERSION],
      capabilities: server.capabilities(),
      ...(server.mode.instructions && { instructions: server.mode.instructions }),
      ...CACHE,
    }
  },
  'subscriptions/listen'(params, call) {
    const filter = params.notifications
    if (typeof filter !== 'object' || filter === null) {
      throw new RpcError(CODE.invalidParams, 'Invalid params: notifications is required')
    }
    const acknowledged = { notifications: filter, _meta: { [META.subscription]: call.id } }
    call.send([notification('notifications/subscriptions/acknowledged', acknowledged)])
    call.server.subscriptions.add({ connection: call.connection, id: call.id, filter })
    return NOTHING
  },
}

export const SHARED_METHODS = {
  'tools/list': (params, call) => page(call, params, 'tools', call.server.mode.tools),
  'resources/list': (params, call) => page(call, params, 'resources', call.server.mode.resources),
  'resources/templates/list': (params, call) =>
    page(call, params, 'resourceTemplates', call.server.mode.templates),
  'prompts/list': (params, call) => page(call, params, 'prompts', call.server.mode.prompts),

  async 'tools/call'(params, call) {
    const tool = items(call.server.mode.tools).find((one) => one.name === params.name)
    if (!tool) throw new RpcError(CODE.invalidParams, `Unknown tool: ${params.name}`)
    const given = params.arguments ?? {}
    const problem = firstProblem(tool.inputSchema, given)
    // Wrong arguments are a tool error, so that the model can correct itself (2025-11-25 and later).
    if (problem) return text(problem, { isError: true })
    return asking(() => tool.run(given, call))
  },

  async 'prompts/get'(params, call) {
    const prompt = items(call.server.mode.prompts).find((one) => one.name === params.name)
    if (!prompt) throw new RpcError(CODE.invalidParams, `Unknown prompt: ${params.name}`)
    return asking(() => prompt.run(params.arguments ?? {}, call))
  },

  async 'resources/read'(params, call) {
    const { resources, templates } = call.server.mode
    const source =
      items(resources).find((one) => one.uri === params.uri) ??
      items(templates).find((one) => one.matches(params.uri))
    if (!source) {
      const code = call.modern ? CODE.invalidParams : CODE.resourceUnknown
      throw new RpcError(code, `Resource not found: ${params.uri}`, { data: { uri: params.uri } })
    }
    const contents = await source.run(params.uri, call)
    return { contents, ...(call.modern && CACHE) }
  },

  'completion/complete'(params, call) {
    const values = call.server.mode.complete?.(params.ref, params.argument) ?? []
    return {
      completion: { values: values.slice(0, 100), total: values.length, hasMore: values.length > 100 },
    }
  },
}

/** The public face of a tool, resource, template or prompt: all but its functions. @param {object} item */
export function face(item) {
  return Object.fromEntries(Object.entries(item).filter(([, value]) => typeof value !== 'function'))
}

/** @param {object[] | (() => object[]) | undefined} source */
export function items(source) {
  return typeof source === 'function' ? source() : (source ?? [])
}

// --- internal ---

function page(call, params, key, source) {
  if (source === undefined)
    throw new RpcError(CODE.methodNotFound, `This server has no ${key}`, { status: 404 })
  const all = items(source)
  const size = call.server.mode.pageSize ?? all.length
  const from = params.cursor === undefined ? 0 : Number(Buffer.from(params.cursor, 'base64url').toString())
  if (!Number.isInteger(from) || from < 0 || from > all.length) {
    throw new RpcError(CODE.invalidParams, `Unknown cursor: ${params.cursor}`)
  }
  const next = from + size
  return {
    [key]: all.slice(from, next).map(face),
    ...(next < all.length && { nextCursor: Buffer.from(String(next)).toString('base64url') }),
    ...(call.modern && CACHE),
  }
}

async function asking(work) {
  try {
    return await work()
  } catch (error) {
    if (error instanceof InputRequired) return error.result
    throw error
  }
}

const TYPES = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: Number.isInteger,
  boolean: (value) => typeof value === 'boolean',
}

function firstProblem(inputSchema, given) {
  for (const name of inputSchema.required ?? [])
    if (given[name] === undefined) return `Argument ${name} is missing`
  for (const [name, value] of Object.entries(given)) {
    const type = inputSchema.properties?.[name]?.type
    if (TYPES[type] && !TYPES[type](value)) return `Argument ${name} must be of type ${type}`
  }
  return undefined
}
