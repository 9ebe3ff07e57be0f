// Lists a server gives of itself, page by page, with what cannot be used left out and said.

import { Fault } from '../base/fault.ts'
import { isRecord } from '../base/record.ts'
import type { Era } from '../wire/era.ts'
import { errorOf, memberValue, type ReplyMessage } from '../wire/message.ts'
import { paramHeaders } from '../wire/param-headers.ts'
import type { OwnSecrets } from './own-secrets.ts'

/** A tool as its server describes it. Members that Busbar does not know are kept. */
export interface Tool {
  readonly name: string
  readonly title?: string
  readonly description?: string
  readonly inputSchema: Readonly<Record<string, unknown>>
  readonly outputSchema?: Readonly<Record<string, unknown>>
  readonly annotations?: Readonly<Record<string, unknown>>
  readonly [key: string]: unknown
}

export interface Definitions {
  readonly tools: readonly Tool[]
}

export type ListMethod = 'tools/list' | 'resources/list' | 'resources/templates/list' | 'prompts/list'

/** Where each list stands in its answer. */
const MEMBER: Record<ListMethod, string> = {
  'tools/list': 'tools',
  'resources/list': 'resources',
  'resources/templates/list': 'resourceTemplates',
  'prompts/list': 'prompts',
}

/** Whether a name is that of a request other than a tool call, as `#ping` stands for `ping`: no tool may be called so. */
export function namesMethod(name: string): boolean {
  return name.startsWith('#')
}

const MAX_PAGES = 1000
const MAX_ITEMS = 50_000

export interface List {
  readonly items: readonly unknown[]
  /** What was wrong with it, for people. */
  readonly complaints: readonly string[]
}

/**
 * All pages of a list. A server whose pages never end gives what it gave so far, and that is said; one that gives more
 * than `limit` bytes gives nothing.
 */
export async function listAll(
  server: string,
  method: ListMethod,
  limit: number,
  ask: (cursor: string | undefined) => Promise<ReplyMessage>,
): Promise<List> {
  const items: unknown[] = []
  let size = 0
  const seen = new Set<string>()
  let cursor: string | undefined
  for (let page = 1; ; page++) {
    const reply = await ask(cursor)
    size += reply.bytes.length
    if (size > limit) throw tooLong(server, method, limit)
    const result = resultOf(server, method, reply)
    const part = result[MEMBER[method]]
    if (!Array.isArray(part))
      return { items, complaints: [`${method} gave ${typeof part} instead of a list`] }
    // Not spread: a page may be longer than the stack is deep.
    for (const item of part) items.push(item)
    const next = result['nextCursor']
    // Some write an empty text where there are no more.
    if (typeof next !== 'string' || next === '') return { items, complaints: [] }
    if (seen.has(next))
      return { items, complaints: [`${method} gave the same page again: ${items.length} kept`] }
    if (page >= MAX_PAGES || items.length >= MAX_ITEMS)
      return { items, complaints: [`${method} does not end: ${items.length} kept`] }
    seen.add(next)
    cursor = next
  }
}

/** The tools of a list that can be offered, in their order. */
export function readTools(
  list: List,
  era: Era,
  secrets?: Pick<OwnSecrets, 'scrubName'>,
): { tools: Tool[]; complaints: string[] } {
  const complaints: string[] = []
  const twice = new Set<string>()
  const tools = new Map<string, Tool>()
  for (const item of list.items) {
    const name = isRecord(item) ? item['name'] : undefined
    if (!isRecord(item) || typeof name !== 'string' || name === '') {
      complaints.push('a tool without a name is left out')
      continue
    }
    // It would stand in every record of a call.
    if (secrets !== undefined && secrets.scrubName(name) !== name) {
      complaints.push(
        'a tool is left out: its name holds a secret that the server was given in its env, headers, args or url',
      )
      continue
    }
    const reason = unusable(name, item, era)
    if (reason !== undefined) complaints.push(`the tool ${name} is left out: it ${reason}`)
    else if (tools.has(name)) twice.add(name)
    else tools.set(name, item as unknown as Tool)
  }
  if (twice.size > 0) {
    const some = [...twice].slice(0, 5).join(', ')
    complaints.push(
      `${twice.size} tools are there twice (${some}${twice.size > 5 ? ', …' : ''}); the first one counts`,
    )
  }
  return { tools: [...tools.values()], complaints: [...complaints, ...list.complaints] }
}

/** The result of an answer as an object; an error is thrown as a fault that carries its code. */
export function resultOf(server: string, method: string, reply: ReplyMessage): Record<string, unknown> {
  if (reply.kind === 'error') throw errorFault(server, method, reply)
  const result = memberValue(reply, 'result')
  if (isRecord(result)) return result
  throw new Fault('MESSAGE_INVALID', `${server} answered ${method} with something that is no object`, {
    server,
  })
}

function errorFault(server: string, method: string, reply: Extract<ReplyMessage, { kind: 'error' }>): Fault {
  const { code, message, data } = errorOf(reply)
  return new Fault('SERVER_ERROR', `${server} refused ${method}: ${message}`, {
    server,
    details: { code, ...(data === undefined ? {} : { data }) },
  })
}

// --- internal ---

function tooLong(server: string, method: string, limit: number): Fault {
  const message = `${server} gives more than ${limit} bytes for ${method}, all pages together`
  return new Fault('MESSAGE_TOO_LARGE', message, { hint: `raise limits.message of ${server}`, server })
}

function unusable(name: string, tool: Record<string, unknown>, era: Era): string | undefined {
  // It would be judged as that request, which nobody is asked about.
  if (namesMethod(name)) return 'has a name that begins with #, as only other requests have'
  if (!isRecord(tool['inputSchema'])) return 'has no schema for its arguments'
  if (era === 'legacy') return undefined
  const headers = paramHeaders(tool['inputSchema'])
  return typeof headers === 'string' ? headers : undefined
}
