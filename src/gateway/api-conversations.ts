// Conversations with the built-in agent, for the owner. What comes of a message is told by `/api/events`.

import { Fault } from '../base/fault.ts'
import { isRecord } from '../base/record.ts'
import type { Hub } from '../hub.ts'
import { oneOf } from './api-lists.ts'
import type { Answer } from './api-types.ts'

/** `GET /api/conversations?agent=&limit=&before=`: `next` is what to give as `before` for the next ones. */
export async function listConversations(
  hub: Hub,
  query: URLSearchParams,
): Promise<Answer<'GET /api/conversations'>> {
  const limit = Math.min(number(query, 'limit') ?? USUAL_PAGE, LARGEST_PAGE)
  const options = { agent: query.get('agent') ?? undefined, before: query.get('before') ?? undefined }
  // One more tells whether there are more.
  const found = await hub.conversations.list({ ...options, limit: limit + 1 })
  const conversations = scrubbed(hub, found.slice(0, limit))
  const next = found.length > limit ? conversations.at(-1)?.id : undefined
  return { conversations, ...(next === undefined ? {} : { next }) }
}

/** `POST /api/conversations {agent?}` */
export async function newConversation(hub: Hub, body: Buffer): Promise<{ id: string; agent: string }> {
  const { agent } = body.length === 0 ? {} : recordIn(body)
  if (agent !== undefined && typeof agent !== 'string') throw wrong('agent is a name, or is left out')
  const conversation = await hub.conversations.create({ agent })
  return { id: conversation.id, agent: conversation.agent }
}

/** `GET /api/conversations/ID?after=&limit=`: all its messages, or those after a number. */
export async function showConversation(
  hub: Hub,
  id: string,
  query: URLSearchParams = new URLSearchParams(),
): Promise<Answer<'GET /api/conversations/ID'>> {
  const [after, limit] = [number(query, 'after'), number(query, 'limit')]
  const page = { ...(after === undefined ? {} : { after }), ...(limit === undefined ? {} : { limit }) }
  return { conversation: scrubbed(hub, await hub.conversations.get(id, page)) }
}

/** `POST /api/conversations/ID/messages {text, urgency?: asked|urgent}`: answered once it is on disk. */
export async function postMessage(hub: Hub, id: string, body: Buffer): Promise<{ seq: number }> {
  const { text, urgency } = recordIn(body)
  if (typeof text !== 'string') throw wrong('text is missing')
  if (urgency !== undefined && urgency !== 'asked' && urgency !== 'urgent')
    throw wrong('urgency is asked or urgent, or is left out')
  return { seq: await hub.conversations.post(id, text, { urgency }) }
}

/** `POST /api/conversations/ID/stop` */
export async function stopTurn(hub: Hub, id: string): Promise<{ stopped: boolean }> {
  return { stopped: await hub.conversations.stop(id) }
}

/** `DELETE /api/conversations/ID`; with `?forget=true` what was said goes, too. */
export async function endConversation(
  hub: Hub,
  id: string,
  query: URLSearchParams,
): Promise<{ id: string; forgotten: boolean }> {
  const forgotten = oneOf('forget', ['true', 'false'], query.get('forget')) === 'true'
  if (forgotten) await hub.conversations.remove(id)
  else await hub.conversations.end(id)
  return { id, forgotten }
}

// --- internal ---

const USUAL_PAGE = 100
const LARGEST_PAGE = 1000

function number(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name)
  if (text === null) return undefined
  if (/^\d{1,15}$/.test(text) && (name === 'after' || Number(text) > 0)) return Number(text)
  throw wrong(`${name} is ${JSON.stringify(text)}; expected a number`)
}

function recordIn(body: Buffer): Record<string, unknown> {
  let said: unknown
  try {
    said = JSON.parse(body.toString('utf8'))
  } catch {
    throw wrong('the body is no JSON')
  }
  if (isRecord(said)) return said
  throw wrong('the body is no JSON object')
}

/** What people, models and tools said is shown without the secrets of the configuration. */
function scrubbed<T>(hub: Hub, value: T): T {
  const { scrub } = hub.context.recording() ?? {}
  if (scrub === undefined) return value
  return JSON.parse(
    JSON.stringify(value, (_, part: unknown) => (typeof part === 'string' ? scrub(part) : part)),
  )
}

function wrong(message: string): Fault {
  return new Fault('USAGE', message, { hint: 'see docs/agent.md' })
}
