// What the owner asks of the running gateway: people's front ends, and the commands. Reached by the owner's socket, or with
// the owner's token.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Code, Fault } from '../base/fault.ts'
import { VERSION } from '../base/version.ts'
import { CallResult } from '../call/result.ts'
import { configDigest } from '../config/snapshot-digest.ts'
import type { Hub } from '../hub.ts'
import { access, listAgents } from './api-access.ts'
import {
  answerApproval,
  approvalStatistics,
  listApprovals,
  listRules,
  removeRule,
  showApproval,
  withdrawApproval,
} from './api-approvals.ts'
import { callTool, listCalls, totals, usage, verify } from './api-calls.ts'
import {
  endConversation,
  listConversations,
  newConversation,
  postMessage,
  showConversation,
  stopTurn,
} from './api-conversations.ts'
import { agentEnergy, energy, refill } from './api-energy.ts'
import { apiFault } from './api-fault.ts'
import { checkServers } from './api-gather.ts'
import { getPrompt, prompts, read, resources, resourceTemplates, tools } from './api-lists.ts'
import { checkMembers, checkParameters } from './api-members.ts'
import { acceptPin, diffPin, listPins } from './api-pins.ts'
import { signOut, startSignIn } from './api-sign-in.ts'
import { newToken, removeTokens, tokensOf } from './api-tokens.ts'
import type { Answer, Api, Standing } from './api-types.ts'
import { readBody } from './body.ts'
import type { EventFeed } from './events.ts'
import { json } from './json.ts'

/** What it needs of the gateway besides its hub. */
export interface ApiHost {
  /** Where it listens. */
  readonly url: string
  /** Agents that can sign in. */
  readonly agents: readonly string[]
  readonly feed: EventFeed
  /** Takes over tokens that were made or revoked. */
  refreshTokens(): Promise<void>
  /** Looks at the files of the configuration now, and takes over what they say. */
  look(): Promise<Standing>
  /** Whether an agent, or a worker, may be acted on as it is written, also where that is not in force yet. */
  isWritten(agent: string): boolean
}

/** Never throws for what a request says: a fault is an answer. */
export async function serveApi(
  hub: Hub,
  request: IncomingMessage,
  response: ServerResponse,
  host: ApiHost,
): Promise<void> {
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  const { pathname, searchParams: query } = new URL(request.url ?? '/', 'http://localhost')
  try {
    if (request.method === 'GET' && pathname === '/api/events') {
      checkParameters('GET /api/events', query)
      return host.feed.serve(request, response)
    }
    const body = request.method === 'POST' ? await readBody(request, response) : NO_BODY
    if (body === undefined) return
    const asked: Asked = { hub, host, query, body, signal: gone.signal }
    const what = `${request.method} ${pathname}`
    const found = find(what)
    if (found === undefined) return json(response, 404, apiFault(unknownRoute(what)))
    checkParameters(found.route, query)
    checkMembers(found.route, body)
    const answer = await found.handler(asked, ...found.names.map(decoded))
    if (answer instanceof CallResult) raw(response, answer)
    else json(response, 200, answer)
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    json(response, statusOf(error), apiFault(error))
  }
}

// --- internal ---

interface Asked {
  readonly hub: Hub
  readonly host: ApiHost
  readonly query: URLSearchParams
  /** Empty unless it was posted. */
  readonly body: Buffer
  /** Fires when whoever asked went away. */
  readonly signal: AbortSignal
}

type Handler<Result> = (asked: Asked, ...names: string[]) => Result | Promise<Result>

/** A call's result is passed on as the server gave it. */
type Routes = {
  readonly [Route in keyof Api]: Handler<Route extends 'POST /api/tools/call' ? CallResult : Answer<Route>>
}

const ROUTES: Routes = {
  'GET /api/status': ({ hub, host }) => ({
    version: VERSION,
    config: configDigest(hub.snapshot),
    url: host.url,
  }),
  'POST /api/config/look': ({ host }) => host.look(),
  'GET /api/servers': ({ hub }) => ({ servers: hub.servers.status() }),
  'GET /api/servers/check': async ({ hub, query, signal }) => ({
    servers: await checkServers(hub, { names: query.getAll('server'), idle: false, signal }),
  }),
  'POST /api/servers/NAME/ACTION': async ({ hub, body }, name = '', action) => {
    switch (action) {
      case 'restart':
        return { server: await hub.servers.reconnect(name) }
      case 'enable':
        return { server: await hub.servers.enable(name) }
      case 'disable':
        return { server: await hub.servers.disable(name) }
      default: {
        const visible = body.length === 0 ? hub.servers.get(name).state === 'hidden' : visibleIn(body)
        return { server: await hub.servers.toggle(name, visible) }
      }
    }
  },
  'POST /api/servers/NAME/login': ({ hub, body }, name = '') => startSignIn(hub, name, body),
  'POST /api/servers/NAME/logout': ({ hub, body }, name = '') => signOut(hub, name, body),
  'GET /api/tools': ({ hub, query, signal }) => tools(hub, query, signal),
  'POST /api/tools/call': ({ hub, body, signal }) => callTool(hub, body, signal),
  'GET /api/resources': ({ hub, query, signal }) => resources(hub, query, signal),
  'GET /api/resources/templates': ({ hub, query, signal }) => resourceTemplates(hub, query, signal),
  'GET /api/prompts': ({ hub, query, signal }) => prompts(hub, query, signal),
  'POST /api/read': ({ hub, body, signal }) => read(hub, body, signal),
  'POST /api/prompts/get': ({ hub, body, signal }) => getPrompt(hub, body, signal),
  'GET /api/calls': ({ hub, query }) => listCalls(hub, query),
  'GET /api/usage': ({ hub, query }) => usage(hub, query),
  'GET /api/usage/verify': ({ hub }) => verify(hub),
  'GET /api/usage/totals': ({ hub }) => totals(hub),
  'GET /api/energy': ({ hub }) => energy(hub),
  'GET /api/energy/AGENT': ({ hub }, agent = '') => agentEnergy(hub, agent),
  'POST /api/energy/AGENT/refill': ({ hub, body }, agent = '') => refill(hub, agent, body),
  'GET /api/approvals': ({ hub, query }) => listApprovals(hub, query),
  'GET /api/approvals/rules': ({ hub }) => listRules(hub),
  'GET /api/approvals/statistics': ({ hub, query }) => approvalStatistics(hub, query),
  'GET /api/approvals/ID': ({ hub }, id = '') => showApproval(hub, id),
  'POST /api/approvals/ID': ({ hub, body }, id = '') => answerApproval(hub, id, body),
  'DELETE /api/approvals/ID': ({ hub }, id = '') => withdrawApproval(hub, id),
  'DELETE /api/approvals/rules/ID': ({ hub }, id = '') => removeRule(hub, id),
  'GET /api/pins': ({ hub, query }) => listPins(hub, query),
  'GET /api/pins/diff': ({ hub, query }) => diffPin(hub, query),
  'POST /api/pins/accept': ({ hub, body }) => acceptPin(hub, body),
  'GET /api/agents': ({ hub, host }) => listAgents(hub, host.agents),
  'GET /api/agents/AGENT/token': ({ hub }, agent = '') => tokensOf(hub, agent),
  'POST /api/agents/AGENT/token': ({ hub, host, query }, agent = '') => newToken(hub, host, agent, query),
  'DELETE /api/agents/AGENT/token': ({ hub, host, query }, agent = '') =>
    removeTokens(hub, host, agent, query),
  'GET /api/access': ({ hub, query }) => access(hub, query),
  'GET /api/conversations': ({ hub, query }) => listConversations(hub, query),
  'POST /api/conversations': ({ hub, body }) => newConversation(hub, body),
  'GET /api/conversations/ID': ({ hub, query }, id = '') => showConversation(hub, id, query),
  'POST /api/conversations/ID/messages': ({ hub, body }, id = '') => postMessage(hub, id, body),
  'POST /api/conversations/ID/stop': ({ hub }, id = '') => stopTurn(hub, id),
  'DELETE /api/conversations/ID': ({ hub, query }, id = '') => endConversation(hub, id, query),
}

/** What stands for a part of the path; the name of a worker has a slash in it. */
const PARTS: Readonly<Record<string, string>> = {
  NAME: '([^/]+)',
  ID: '([^/]+)',
  AGENT: '(.+?)',
  ACTION: '(restart|enable|disable|toggle)',
}

const PATTERNS: readonly (readonly [RegExp, keyof Api])[] = Object.keys(ROUTES)
  .filter((route): route is keyof Api => /\/[A-Z]+/.test(route))
  .map((route) => {
    const pattern = route.replace(/(?<=\/)[A-Z]+/g, (part) => PARTS[part] ?? part)
    return [new RegExp(`^${pattern}$`), route]
  })

const NO_BODY = Buffer.alloc(0)

const STATUS: Readonly<Partial<Record<Code, number>>> = {
  SERVER_UNKNOWN: 404,
  AGENT_UNKNOWN: 404,
  TOOL_UNKNOWN: 404,
  CONVERSATION_UNKNOWN: 404,
  USAGE: 400,
  ARGUMENTS_INVALID: 400,
  NO_ACCESS: 403,
  APPROVAL_DENIED: 403,
  TOOL_CHANGED: 409,
  APPROVAL_UNKNOWN: 409,
  APPROVALS_FULL: 429,
  OUT_OF_ENERGY: 429,
  LOOP_STOPPED: 429,
  GATEWAY_LIMIT: 429,
  SERVER_BUSY: 429,
  CALL_TIMEOUT: 504,
}

/** What is not there is another thing than what was answered by somebody else, which the fault then names. */
function statusOf({ code, details }: Fault): number {
  if (code === 'APPROVAL_UNKNOWN' && details?.['approval'] === undefined) return 404
  return STATUS[code] ?? 409
}

interface Found {
  readonly route: keyof Api
  readonly handler: Handler<object>
  /** What stands in the path for the names in capitals, as it is written there. */
  readonly names: readonly string[]
}

function find(what: string): Found | undefined {
  // Own members only, and those are the routes.
  if (Object.hasOwn(ROUTES, what)) return foundAt(what as keyof Api, [])
  for (const [pattern, route] of PATTERNS) {
    const [, ...names] = pattern.exec(what) ?? []
    if (names.length > 0) return foundAt(route, names)
  }
  return undefined
}

function foundAt(route: keyof Api, names: readonly string[]): Found {
  return { route, handler: ROUTES[route], names }
}

function unknownRoute(what: string): Fault {
  return new Fault('USAGE', `${what} is not known`, { hint: 'see docs/gateway.md' })
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
