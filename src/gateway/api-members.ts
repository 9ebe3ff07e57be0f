// What each route of `/api/*` takes: the parameters of its address, and the members of what is posted to it. Anything else is
// refused: a name that is misspelt would otherwise count as left out, and the answer would be about somebody else.

import { Fault } from '../base/fault.ts'
import { nearest } from '../base/suggest.ts'
import { scanObject } from '../wire/scan.ts'
import type { Api } from './api-types.ts'

/** Parameters of an address; routes that are not listed take none. */
const PARAMETERS: { readonly [Route in keyof Api]?: readonly string[] } = {
  'GET /api/servers/check': ['server'],
  'GET /api/tools': ['agent', 'server', 'wait', 'search', 'format', 'naming'],
  'GET /api/resources': ['agent', 'server', 'wait'],
  'GET /api/resources/templates': ['agent', 'server', 'wait'],
  'GET /api/prompts': ['agent', 'server', 'wait'],
  'GET /api/calls': ['since', 'agent', 'server', 'tool', 'outcome', 'conversation', 'limit', 'before'],
  'GET /api/usage': ['since', 'by'],
  'GET /api/approvals': ['status', 'agent'],
  'GET /api/approvals/statistics': ['since'],
  'GET /api/pins': ['server'],
  'GET /api/pins/diff': ['server', 'tool'],
  'POST /api/agents/AGENT/token': ['life', 'replace'],
  'DELETE /api/agents/AGENT/token': ['id'],
  'GET /api/access': ['agent', 'address'],
  'GET /api/conversations': ['agent', 'limit', 'before'],
  'GET /api/conversations/ID': ['after', 'limit'],
  'DELETE /api/conversations/ID': ['forget'],
}

/** Those that may be given more than once. */
const SEVERAL: ReadonlySet<string> = new Set(['GET /api/servers/check'])

/** Members of a body. */
const MEMBERS: { readonly [Route in Extract<keyof Api, `POST ${string}`>]: readonly string[] } = {
  'POST /api/servers/NAME/ACTION': ['visible'],
  'POST /api/servers/NAME/login': ['account', 'scopes', 'device'],
  'POST /api/servers/NAME/logout': ['account'],
  'POST /api/tools/call': ['agent', 'server', 'tool', 'arguments', 'conversation', 'timeout', 'approvalWait'],
  'POST /api/read': ['agent', 'server', 'uri'],
  'POST /api/prompts/get': ['agent', 'server', 'name', 'arguments'],
  'POST /api/config/look': [],
  'POST /api/energy/AGENT/refill': ['amount'],
  'POST /api/approvals/ID': ['decision', 'remember', 'by'],
  'POST /api/pins/accept': ['server', 'tool', 'fingerprint'],
  'POST /api/agents/AGENT/token': [],
  'POST /api/conversations': ['agent'],
  'POST /api/conversations/ID/messages': ['text', 'urgency'],
  'POST /api/conversations/ID/stop': [],
}

/** Throws what is wrong with the names in an address, or with values that are none. */
export function checkParameters(route: keyof Api | 'GET /api/events', query: URLSearchParams): void {
  const known = route === 'GET /api/events' ? [] : (PARAMETERS[route] ?? [])
  const names = [...query.keys()]
  for (const [name, value] of query) {
    if (!known.includes(name)) throw unknown('parameter', name, known)
    if (value === '') throw wrong(`${name} is empty`, 'give it a value, or leave it out')
  }
  const again = SEVERAL.has(route) ? undefined : names.find((name, at) => names.indexOf(name) !== at)
  if (again !== undefined) throw wrong(`${again} is given more than once`)
}

/** The same for what was posted; nothing at all is for the route to judge. */
export function checkMembers(route: keyof Api, body: Buffer): void {
  if (body.length === 0) return
  const known: readonly string[] = route in MEMBERS ? MEMBERS[route as keyof typeof MEMBERS] : []
  const scan = scanObject(body)
  if (!scan.ok) throw wrong('the body is no JSON object')
  const keys = scan.members.map(({ key }) => key)
  if (new Set(keys).size !== keys.length) throw wrong('the body has a key twice')
  const other = keys.find((key) => !known.includes(key))
  if (other !== undefined) throw unknown('member', other, known)
}

// --- internal ---

function unknown(kind: 'parameter' | 'member', name: string, known: readonly string[]): Fault {
  const near = nearest(name, known)
  const those = known.length === 0 ? 'it takes none' : `it takes ${known.join(', ')}`
  return wrong(`there is no ${kind} ${JSON.stringify(name)}`, near ? `did you mean ${near}?` : those)
}

function wrong(message: string, hint = 'see docs/gateway.md'): Fault {
  return new Fault('USAGE', message, { hint })
}
