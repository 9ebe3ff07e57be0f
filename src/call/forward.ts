// A request of a client that is passed on as it is: only what belongs to one hop is changed, the id, the progress token
// and what an era wants in `_meta`. It takes the same way as a call: reach, then send.

import { Fault } from '../base/fault.ts'
import type { Stop } from '../base/stop.ts'
import type { Connection } from '../connect/connection.ts'
import type { Link } from '../connect/link.ts'
import { enter } from '../connect/send.ts'
import type { Actor } from '../policy/access.ts'
import { type Era, META } from '../wire/era.ts'
import type { NotificationMessage, ReplyMessage } from '../wire/message.ts'
import { paramHeaderValues } from '../wire/param-headers.ts'
import { modernMeta, param, type RawParams, withMeta } from '../wire/params.ts'
import { type CallContext, reach } from './call.ts'

export interface Forwarded {
  readonly server: string
  /** The era of the client. */
  readonly era: Era
  readonly method: string
  readonly params: RawParams
  /** What it is about: see `nameIn`. */
  readonly name: string | undefined
  readonly signal: Stop
  /** What belongs to the request and comes before its answer, in order. Must not throw. */
  readonly onNotification: (message: NotificationMessage) => void
}

/** Passes a request on. The reply may be in the other era's form: see `answerFor` in the gateway. */
export async function forward(
  context: CallContext,
  actor: Actor,
  request: Forwarded,
): Promise<{ reply: ReplyMessage; era: Era }> {
  const connection = reach(context, actor, request.server)
  const { method, params, name, signal } = request
  // What the configuration leaves out is not there, whoever asks.
  if (method === 'tools/call' && (name === undefined || !connection.plan.offers(name)))
    throw new Fault(
      'TOOL_UNKNOWN',
      `${connection.name} has no tool ${JSON.stringify(param(params, 'name') ?? null)}`,
      {
        server: connection.name,
      },
    )
  // A stream that stays open is no call that takes long.
  const stays = method === 'subscriptions/listen'
  if (stays) await connection.ready(signal)
  else if (!connection.live || !connection.gate.tryEnter()) await enter(connection, { method, signal })
  try {
    const link = connection.live ?? (await connection.ready(signal))
    return { reply: await pass(connection, link, request, stays), era: link.agreement.era }
  } finally {
    if (!stays) connection.gate.leave()
  }
}

// --- internal ---

/** What a modern server is told of a client that cannot be asked back. */
const SILENT = modernMeta({ name: 'busbar', version: '' }, {})
const MODERN_KEYS: ReadonlySet<string> = new Set([
  META.version,
  META.client,
  META.capabilities,
  META.logLevel,
])

function pass(connection: Connection, link: Link, request: Forwarded, stays: boolean): Promise<ReplyMessage> {
  const { method, params, name, signal, onNotification } = request
  const { timeouts } = connection.plan
  const modern = link.agreement.era === 'modern'
  const about = modern ? aboutOf(connection, name, params) : {}
  return link.pass(method, (token) => paramsFor(params, request.era, modern, token, link), {
    ...about,
    signal,
    idle: stays ? undefined : timeouts.call,
    total: stays ? undefined : timeouts.total,
    onNotification,
  })
}

/** The headers of a modern request repeat what stands in its body. */
function aboutOf(connection: Connection, name: string | undefined, params: RawParams) {
  const known = name === undefined ? undefined : connection.tool(name)
  const headers =
    known && known.headers.length > 0
      ? paramHeaderValues(known.headers, param(params, 'arguments'))
      : undefined
  return { name, headers }
}

/** Precomputed, because most legacy calls come without a `_meta` of their own. */
const SILENT_TEXT = new WeakMap<Link, string>()

function silentText(link: Link): string {
  let text = SILENT_TEXT.get(link)
  if (text === undefined) {
    text = JSON.stringify({ ...SILENT, [META.client]: link.client })
    SILENT_TEXT.set(link, text)
  }
  return text
}

function paramsFor(
  params: RawParams,
  from: Era,
  modern: boolean,
  token: number,
  link: Link,
): string | undefined {
  const { meta } = params
  if (meta === undefined && from === 'legacy' && modern) {
    // The bytes are one object, from its brace to its brace.
    const inside =
      params.members.length === 0 ? '' : `${params.bytes.toString('utf8', 1, params.bytes.length - 1)},`
    return `{${inside}"_meta":${silentText(link)}}`
  }
  const wanted = meta?.['progressToken'] === undefined ? {} : { progressToken: token }
  const passing = from === 'modern' && !modern ? without(meta) : meta
  const own = from === 'legacy' && modern ? { ...SILENT, [META.client]: link.client } : {}
  const next = { ...passing, ...own, ...wanted }
  const changed = from !== (modern ? 'modern' : 'legacy') || 'progressToken' in wanted
  if (changed) return withMeta(params, Object.keys(next).length > 0 ? next : undefined)
  return params.members.length === 0 && meta === undefined ? undefined : params.bytes.toString('utf8')
}

function without(meta: RawParams['meta']): Record<string, unknown> {
  return Object.fromEntries(Object.entries(meta ?? {}).filter(([key]) => !MODERN_KEYS.has(key)))
}
