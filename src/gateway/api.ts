// What the owner's commands ask of the running gateway. Reached by the owner's socket, or with the owner's token.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Code, Fault } from '../base/fault.ts'
import { VERSION } from '../base/version.ts'
import { CallResult } from '../call/result.ts'
import { configDigest } from '../config/snapshot-digest.ts'
import type { Hub } from '../hub.ts'
import {
  answerApproval,
  approvalStatistics,
  listApprovals,
  listRules,
  removeRule,
  showApproval,
} from './api-approvals.ts'
import { callTool, listCalls, listTools, totals, usage, verify } from './api-calls.ts'
import { agentEnergy, energy, refill } from './api-energy.ts'
import { acceptPin, diffPin, listPins } from './api-pins.ts'
import { readBody } from './body.ts'
import { json } from './json.ts'
import { makeToken, revokeTokens, shownTokens } from './tokens.ts'

/** Never throws for what a request says: a fault is an answer. */
export async function serveApi(
  hub: Hub,
  request: IncomingMessage,
  response: ServerResponse,
  tokensChanged: () => Promise<void>,
): Promise<void> {
  try {
    const answer = await route(hub, request, response, tokensChanged)
    if (answer instanceof CallResult) raw(response, answer)
    else if (answer !== undefined) json(response, 200, answer)
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    const { code, message, hint, server, details } = error
    const approval = details?.['approval']
    json(response, STATUS[code] ?? 409, { code, message, hint, server, approval })
  }
}

// --- internal ---

const STATUS: Readonly<Partial<Record<Code, number>>> = {
  SERVER_UNKNOWN: 404,
  AGENT_UNKNOWN: 404,
  TOOL_UNKNOWN: 404,
  USAGE: 400,
  ARGUMENTS_INVALID: 400,
  NO_ACCESS: 403,
  APPROVAL_DENIED: 403,
  TOOL_CHANGED: 409,
  APPROVAL_UNKNOWN: 409,
  OUT_OF_ENERGY: 429,
  LOOP_STOPPED: 429,
  CALL_TIMEOUT: 504,
}

async function route(
  hub: Hub,
  request: IncomingMessage,
  response: ServerResponse,
  tokensChanged: () => Promise<void>,
): Promise<object | undefined> {
  const { pathname, searchParams: query } = new URL(request.url ?? '/', 'http://localhost')
  const what = `${request.method} ${pathname}`
  switch (what) {
    case 'GET /api/status':
      return { version: VERSION, config: configDigest(hub.snapshot) }
    case 'GET /api/servers':
      return { servers: hub.servers.status() }
    case 'GET /api/tools':
      return listTools(hub, query)
    case 'POST /api/tools/call': {
      const gone = new AbortController()
      response.once('close', () => gone.abort())
      const body = await readBody(request, response)
      return body && (await callTool(hub, body, gone.signal))
    }
    case 'GET /api/calls':
      return await listCalls(hub, query)
    case 'GET /api/usage':
      return await usage(hub, query)
    case 'GET /api/usage/verify':
      return await verify(hub)
    case 'GET /api/usage/totals':
      return await totals(hub)
    case 'GET /api/energy':
      return await energy(hub)
    case 'GET /api/approvals':
      return await listApprovals(hub, query)
    case 'GET /api/approvals/rules':
      return await listRules(hub)
    case 'GET /api/approvals/statistics':
      return await approvalStatistics(hub, query)
    case 'GET /api/pins':
      return await listPins(hub, query)
    case 'GET /api/pins/diff':
      return await diffPin(hub, query)
    case 'POST /api/pins/accept': {
      const body = await readBody(request, response)
      return body && (await acceptPin(hub, body))
    }
  }
  const [, rule] = /^\/api\/approvals\/rules\/([^/]+)$/.exec(pathname) ?? []
  if (rule !== undefined && request.method === 'DELETE') return await removeRule(hub, decoded(rule))
  const [, asked] = /^\/api\/approvals\/([^/]+)$/.exec(pathname) ?? []
  if (asked !== undefined && request.method === 'GET') return await showApproval(hub, decoded(asked))
  if (asked !== undefined && request.method === 'POST') {
    const body = await readBody(request, response)
    return body && (await answerApproval(hub, decoded(asked), body))
  }
  const [, whose, refilled] = /^\/api\/energy\/(.+?)(\/refill)?$/.exec(pathname) ?? []
  if (whose !== undefined && refilled === undefined && request.method === 'GET')
    return await agentEnergy(hub, decoded(whose))
  if (whose !== undefined && refilled !== undefined && request.method === 'POST') {
    const body = await readBody(request, response)
    return body && (await refill(hub, decoded(whose), body))
  }
  const [, agent] = /^\/api\/agents\/(.+)\/token$/.exec(pathname) ?? []
  if (agent !== undefined) return await token(hub, request, decoded(agent), query, tokensChanged)
  const [, name, action] = /^\/api\/servers\/([^/]+)\/(restart|enable|disable|toggle)$/.exec(pathname) ?? []
  if (name === undefined || request.method !== 'POST')
    throw new Fault('USAGE', `${what} is not known`, { hint: 'see docs/gateway.md' })
  const server = decoded(name)
  switch (action) {
    case 'restart':
      return { server: await hub.servers.reconnect(server) }
    case 'enable':
      return { server: await hub.servers.enable(server) }
    case 'disable':
      return { server: await hub.servers.disable(server) }
    default: {
      const body = await readBody(request, response)
      if (body === undefined) return undefined
      const visible = body.length === 0 ? hub.servers.get(server).state === 'hidden' : visibleIn(body)
      return { server: await hub.servers.toggle(server, visible) }
    }
  }
}

async function token(
  hub: Hub,
  { method }: IncomingMessage,
  agent: string,
  query: URLSearchParams,
  tokensChanged: () => Promise<void>,
): Promise<object> {
  const { agents } = hub.store
  // Only of agents there are: a token for a name nobody has would wait for somebody to take it.
  if (method !== 'DELETE') hub.actor(agent)
  if (method === 'GET') return { agent, tokens: await shownTokens(agents, agent) }
  const life = query.get('life') === null ? undefined : Number(query.get('life'))
  if (life !== undefined && !(life > 0 && Number.isFinite(life)))
    throw new Fault('USAGE', 'life is no number of milliseconds')
  const answer =
    method === 'DELETE'
      ? { agent, revoked: await revokeTokens(agents, agent, query.get('id') ?? undefined) }
      : await makeToken(agents, agent, {
          life,
          replace: query.get('replace') === 'true',
        })
  await tokensChanged()
  return answer
}

/** The result as the server gave it. */
function raw(response: ServerResponse, result: CallResult): void {
  const { bytes } = result
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': bytes.length })
  response.end(bytes)
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    throw new Fault('USAGE', `${name} is no name in an address`, { hint: 'encode it as an address wants it' })
  }
}

function visibleIn(body: Buffer): boolean {
  try {
    const { visible } = JSON.parse(String(body))
    if (typeof visible === 'boolean') return visible
  } catch {
    // Told below.
  }
  throw new Fault('USAGE', 'the body is not understood', {
    hint: 'send {"visible": true} or {"visible": false}',
  })
}
