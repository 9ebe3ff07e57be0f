// A server's own list of tools on its way to a client: without what the one who asks may not call, and without what is
// not the accepted definition. It is judged as it stands in this very answer: the server may have said it a moment ago.

import { isRecord } from '../base/record.ts'
import { verdictOn } from '../call/admit.ts'
import { argumentsProblem } from '../call/arguments.ts'
import type { Connection } from '../connect/connection.ts'
import { namesMethod, type Tool } from '../connect/definitions.ts'
import type { Hub } from '../hub.ts'
import type { Actor } from '../policy/access.ts'
import { fingerprint } from '../registry/fingerprint.ts'
import { memberValue, type ReplyMessage, readMessage, slice } from '../wire/message.ts'

/** The answer to a `tools/list`; when nothing is left of it, the reason is told. */
export function judgedPage(hub: Hub, actor: Actor, server: string, answer: ReplyMessage): ReplyMessage {
  if (answer.kind !== 'result') return answer
  const { context } = hub
  const connection = context.manager.get(server)
  const open = !context.rules().hides(actor, server) && !connection.leavesOut && !isDenied(hub, actor, server)
  // Most lists are the same as the last time, and then need not be read.
  if (open && isJudged(hub, connection, answer)) return answer
  const result = memberValue(answer, 'result') as { tools?: unknown; _meta?: object }
  const tools = Array.isArray(result.tools) ? result.tools : []
  const named = tools.filter((tool) => !isCalledBySecret(connection, tool))
  const sound = named.filter((tool): tool is Tool => isAccepted(hub, connection, tool))
  // It has changed, and has not said so: from now on calls are judged by what it says now.
  if (sound.length < named.length) void connection.relist(true).catch(() => undefined)
  const shown = open
    ? sound
    : sound.filter(
        ({ name }) =>
          connection.tool(name) !== undefined &&
          verdictOn(context, actor, { server, tool: name }).verdict !== 'deny',
      )
  if (shown.length === tools.length && !hasTwice(answer)) {
    if (open) remember(hub, connection, answer)
    return answer
  }
  const reason = shown.length === 0 && tools.length > 0 ? `none of ${server}'s tools may be used` : undefined
  const meta = reason === undefined ? {} : { _meta: { ...result._meta, 'busbar/reason': reason } }
  const text = JSON.stringify({ jsonrpc: '2.0', id: answer.id, result: { ...result, tools: shown, ...meta } })
  return readMessage(Buffer.from(text)) as ReplyMessage
}

// --- internal ---

/** Whether some key is there twice: a client may take the other one than was judged, so it is written anew. */
function hasTwice(answer: ReplyMessage): boolean {
  const page = slice(answer, 'result')
  return page !== undefined && argumentsProblem(page) !== undefined
}

/** Whether a person said no to something of this server, for good. */
function isDenied({ brakes }: Hub, actor: Actor, server: string): boolean {
  if (actor.kind === 'owner') return false
  return brakes.memories.all.some(
    (rule) => rule.decision === 'deny' && rule.server === server && (rule.agent ?? actor.id) === actor.id,
  )
}

/** Pages that were found to hold nothing but accepted definitions, as long as no verdict changed. */
const JUDGED = new WeakMap<Connection, { version: number; pages: Buffer[] }>()
/** Lists come in pages; more than a few are judged again. */
const MOST_PAGES = 8

function isJudged({ pins }: Hub, connection: Connection, answer: ReplyMessage): boolean {
  const judged = JUDGED.get(connection)
  const page = slice(answer, 'result')
  return (
    judged !== undefined &&
    page !== undefined &&
    judged.version === pins.version &&
    judged.pages.some((known) => known.equals(page))
  )
}

function remember({ pins }: Hub, connection: Connection, answer: ReplyMessage): void {
  const page = slice(answer, 'result')
  if (page === undefined) return
  const before = JUDGED.get(connection)
  const pages = before?.version === pins.version ? before.pages : []
  // A copy: the whole of what was read with it would live on.
  JUDGED.set(connection, { version: pins.version, pages: [...pages, Buffer.from(page)].slice(-MOST_PAGES) })
}

/** Such a tool is left out of every list: it would stand in every record of a call. */
function isCalledBySecret({ plan }: Connection, tool: unknown): boolean {
  const name = isRecord(tool) ? tool['name'] : undefined
  return typeof name === 'string' && plan.secrets.scrubName(name) !== name
}

function isAccepted({ pins }: Hub, connection: Connection, tool: unknown): tool is Tool {
  if (!isRecord(tool) || typeof tool['name'] !== 'string') return false
  const definition = tool as Tool
  if (namesMethod(definition.name)) return false
  const verdict = pins.verdict(connection.name, definition.name, fingerprint(definition))
  if (verdict === 'new') pins.first(connection.name, definition)
  return verdict !== 'changed'
}
