// The last step of a request that is passed on: written for the era of the server, and asked again with what a modern
// server wanted to know first.

import type { Stop } from '../base/stop.ts'
import type { Stopwatch } from '../base/stopwatch.ts'
import type { Connection } from '../connect/connection.ts'
import type { Link } from '../connect/link.ts'
import { abortable } from '../connect/pause.ts'
import { limitsOf, untilAnswered } from '../connect/send.ts'
import { META } from '../wire/era.ts'
import type { ReplyMessage } from '../wire/message.ts'
import { paramHeaderValues } from '../wire/param-headers.ts'
import { modernMeta, param, type RawParams, withMeta } from '../wire/params.ts'
import type { Forwarded, Told } from './forward.ts'

/** What is known of a request when it is answered the first time. */
export interface First {
  readonly reply: ReplyMessage
  /** When it was asked, on the monotonic clock. */
  readonly since: number
  /** That of the connection at that time; while it drains it has another one already. */
  readonly stopping: Stop
}

/** Until it is answered: a modern server may ask first, and a legacy client is asked in its own way, or not at all. */
export function passAgain(
  connection: Connection,
  link: Link,
  request: Forwarded,
  { reply, since, stopping }: First,
  clock: Stopwatch | undefined,
): Promise<ReplyMessage> {
  const { answers, method, params } = request
  if (answers === undefined) return Promise.resolve(reply)
  const limits = limitsOf(connection.plan, undefined)
  const repeated = { server: connection.name, method, signal: request.signal, limits, since, clock }
  // Whoever is asked may take their time, but not longer than the server stays.
  const answering = (question: ReplyMessage, stop: Stop) =>
    abortable(answers(question, params, stop), stopping, connection.name)
  return untilAnswered(repeated, reply, answering, (next, stop) =>
    pass(connection, link, { ...request, params: next, signal: stop }, false, clock),
  )
}

/** Asks once. */
export function pass(
  connection: Connection,
  link: Link,
  request: Forwarded,
  stays: boolean,
  clock: Stopwatch | undefined,
): Promise<ReplyMessage> {
  const { method, params, name, signal, onNotification, asker } = request
  const { timeouts } = connection.plan
  const modern = link.agreement.era === 'modern'
  return link.pass(method, (token) => paramsFor(params, request, modern, token, link), {
    name,
    headers: modern && method === 'tools/call' ? headersFor(connection, name, params) : undefined,
    signal,
    idle: stays ? undefined : timeouts.call,
    total: stays ? undefined : timeouts.total,
    onNotification,
    asker,
    clock,
  })
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

/** The headers of a modern call repeat what stands in its body. */
function headersFor(
  connection: Connection,
  name: string | undefined,
  params: RawParams,
): Record<string, string> | undefined {
  const known = name === undefined ? undefined : connection.tool(name)
  return known && known.headers.length > 0
    ? paramHeaderValues(known.headers, param(params, 'arguments'))
    : undefined
}

/** Precomputed, because most legacy calls come without a `_meta` of their own. */
const META_TEXTS = new WeakMap<object, { readonly link: Link; readonly text: string }>()

function silentText(link: Link, told: Told | undefined): string {
  // By whichever of the two is the rarer one.
  const kept = META_TEXTS.get(told ?? link)
  if (kept?.link === link) return kept.text
  const text = JSON.stringify(metaOf(link, told))
  META_TEXTS.set(told ?? link, { link, text })
  return text
}

function metaOf({ client }: Link, told: Told | undefined): Record<string, unknown> {
  return {
    ...SILENT,
    [META.client]: client,
    ...(told ? { [META.capabilities]: told.capabilities } : {}),
    ...(told?.logLevel === undefined ? {} : { [META.logLevel]: told.logLevel }),
  }
}

function paramsFor(
  params: RawParams,
  { era: from, told }: Forwarded,
  modern: boolean,
  token: number,
  link: Link,
): string | undefined {
  const { meta } = params
  if (meta === undefined && from === 'legacy' && modern) {
    // The bytes are one object, from its brace to its brace.
    const inside =
      params.members.length === 0 ? '' : `${params.bytes.toString('utf8', 1, params.bytes.length - 1)},`
    return `{${inside}"_meta":${silentText(link, told)}}`
  }
  const wants = meta?.['progressToken'] !== undefined
  if (from === (modern ? 'modern' : 'legacy') && !wants)
    return params.members.length === 0 && meta === undefined ? undefined : params.bytes.toString('utf8')
  const passing = from === 'modern' && !modern ? without(meta) : meta
  const own = from === 'legacy' && modern ? metaOf(link, told) : {}
  const next = { ...passing, ...own, ...(wants ? { progressToken: token } : {}) }
  return withMeta(params, Object.keys(next).length > 0 ? next : undefined)
}

function without(meta: RawParams['meta']): Record<string, unknown> {
  return Object.fromEntries(Object.entries(meta ?? {}).filter(([key]) => !MODERN_KEYS.has(key)))
}
