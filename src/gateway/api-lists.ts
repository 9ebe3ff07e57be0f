// What servers have, for the owner or as an agent sees it: tools, resources, prompts. Used by `/api/*`, and by commands
// where no gateway runs; by whichever door, it is the agent's handle that lists and reads.

import { Fault } from '../base/fault.ts'
import { isRecord } from '../base/record.ts'
import type { AgentHandle, AgentTool } from '../call/handle.ts'
import type { Listed } from '../call/request.ts'
import type { OwnSecrets } from '../connect/own-secrets.ts'
import type { Hub } from '../hub.ts'
import { TOOL_FORMATS, type ToolFormat } from '../registry/formats/project.ts'
import { NAMING_SCHEMES, type NamingScheme } from '../registry/names.ts'
import { apiFault } from './api-fault.ts'
import { gather, type Wanted } from './api-gather.ts'
import type { Answer, PromptRequest, ReadRequest, ThingsAnswer, ToolsAnswer } from './api-types.ts'

/** Of whatever kind. */
export interface Things extends ThingsAnswer {
  readonly items: readonly Listed[]
}

export interface WantedTools extends Wanted {
  /** Only those that fit these words, best first. */
  readonly search?: string | undefined
  readonly format?: ToolFormat | undefined
  readonly naming?: NamingScheme | undefined
}

/** To be looked at, so without the secrets that a server repeats; whoever calls tools is given them by the library and by MCP. */
export async function listTools(hub: Hub, wanted: WantedTools): Promise<ToolsAnswer> {
  const { agent, server, surface, search, format, naming } = wanted
  const servers = await gather(hub, wanted)
  await hub.energy?.estimates.ready()
  const handle = hub.door(agent, surface)
  const seen = handle.tools(server)
  const tools = search === undefined ? seen : found(handle, search, seen)
  const reason = tools.length === 0 ? handle.whyEmpty() : undefined
  const projected = format === undefined ? undefined : handle.toolsFor({ server, format, naming })
  return {
    tools: tools.map((tool) => shown(hub, tool)),
    servers,
    ...(reason === undefined ? {} : { reason }),
    // Of whose tools each part speaks is not told in there.
    ...(projected && {
      projected: servers.reduce((all, { name }) => secretsOf(hub, name)?.shown(all) ?? all, projected),
    }),
  }
}

/** What else servers list. */
export type Kind = 'resources' | 'resourceTemplates' | 'prompts'

/** Of a named server, what keeps it from answering is thrown; of many, it is told and the others are listed. */
export async function listThings(hub: Hub, kind: Kind, wanted: Wanted): Promise<Things> {
  const { agent, server, surface, signal } = wanted
  const servers = await gather(hub, { ...wanted, wait: wanted.wait || server !== undefined })
  const up = servers.filter(({ state }) => state === 'up')
  const handle = hub.door(agent, surface)
  const lists = await Promise.allSettled(up.map(({ name }) => handle[kind](name, { signal })))
  const failures = lists.flatMap((list) => (list.status === 'rejected' ? [list.reason] : []))
  // A bug is nobody's server.
  for (const error of failures) if (!(error instanceof Fault) || server !== undefined) throw error
  const listed = lists.flatMap((list) => (list.status === 'fulfilled' ? list.value : []))
  const items = listed.map((item) => shown(hub, item))
  return { items, servers, failures: failures.map(apiFault) }
}

/** A resource's contents, as the server gives them. */
export async function readResource(
  hub: Hub,
  { agent, server, uri }: ReadRequest,
  { surface, signal }: Pick<Wanted, 'surface' | 'signal'>,
): Promise<Answer<'POST /api/read'>> {
  return await hub.door(agent, surface).read(server, uri, { signal })
}

/** `GET /api/tools?agent=&server=&wait=&search=&format=&naming=` */
export async function tools(hub: Hub, query: URLSearchParams, signal: AbortSignal): Promise<ToolsAnswer> {
  return await listTools(hub, {
    ...wantedIn(query, signal),
    search: query.get('search') ?? undefined,
    format: oneOf('format', TOOL_FORMATS, query.get('format')),
    naming: oneOf('naming', NAMING_SCHEMES, query.get('naming')),
  })
}

/** `GET /api/resources?agent=&server=&wait=` */
export async function resources(
  hub: Hub,
  query: URLSearchParams,
  signal: AbortSignal,
): Promise<Answer<'GET /api/resources'>> {
  const { items, ...rest } = await listThings(hub, 'resources', wantedIn(query, signal))
  return { resources: items, ...rest }
}

/** `GET /api/resources/templates?agent=&server=&wait=` */
export async function resourceTemplates(
  hub: Hub,
  query: URLSearchParams,
  signal: AbortSignal,
): Promise<Answer<'GET /api/resources/templates'>> {
  const { items, ...rest } = await listThings(hub, 'resourceTemplates', wantedIn(query, signal))
  return { resourceTemplates: items, ...rest }
}

/** `GET /api/prompts?agent=&server=&wait=` */
export async function prompts(
  hub: Hub,
  query: URLSearchParams,
  signal: AbortSignal,
): Promise<Answer<'GET /api/prompts'>> {
  const { items, ...rest } = await listThings(hub, 'prompts', wantedIn(query, signal))
  return { prompts: items, ...rest }
}

/** `POST /api/read {agent?, server, uri}` */
export async function read(hub: Hub, body: Buffer, signal: AbortSignal): Promise<Answer<'POST /api/read'>> {
  const said = membersOf(body)
  const asked = { agent: optional(said, 'agent'), server: text(said, 'server'), uri: text(said, 'uri') }
  return await readResource(hub, asked, { surface: 'api', signal })
}

/** `POST /api/prompts/get {agent?, server, name, arguments?}` */
export async function getPrompt(
  hub: Hub,
  body: Buffer,
  signal: AbortSignal,
): Promise<Answer<'POST /api/prompts/get'>> {
  const said = membersOf(body)
  const {
    agent,
    server,
    name,
    arguments: given,
  }: PromptRequest = {
    agent: optional(said, 'agent'),
    server: text(said, 'server'),
    name: text(said, 'name'),
    arguments: textsIn(said['arguments']),
  }
  return await hub.door(agent, 'api').getPrompt(server, name, given, { signal })
}

/** One of some words, or nothing. */
export function oneOf<T extends string>(
  name: string,
  known: readonly T[],
  said: string | null,
): T | undefined {
  if (said === null) return undefined
  const found = known.find((word) => word === said)
  if (found !== undefined) return found
  throw new Fault(
    'USAGE',
    `${name} is "${said}"; expected ${known.slice(0, -1).join(', ')} or ${known.at(-1)}`,
  )
}

// --- internal ---

const MOST_FOUND = 20

function secretsOf(hub: Hub, server: string): OwnSecrets | undefined {
  return hub.context.manager.find(server)?.plan.secrets
}

/** Something of a server for people to look at. */
function shown<T extends { readonly server: string }>(hub: Hub, item: T): T {
  return secretsOf(hub, item.server)?.shown(item) ?? item
}

function found(handle: AgentHandle, words: string, seen: readonly AgentTool[]): AgentTool[] {
  const byAddress = new Map(seen.map((tool) => [tool.address, tool]))
  return handle.search(words, MOST_FOUND).flatMap(({ address }) => byAddress.get(address) ?? [])
}

function wantedIn(query: URLSearchParams, signal: AbortSignal): Wanted {
  return {
    agent: query.get('agent') ?? undefined,
    server: query.get('server') ?? undefined,
    wait: oneOf('wait', ['true', 'false'], query.get('wait')) === 'true',
    surface: 'api',
    signal,
  }
}

function membersOf(body: Buffer): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(String(body))
    if (isRecord(value)) return value
  } catch {
    // Told below.
  }
  throw wrong('the body is no JSON object')
}

function text(said: Record<string, unknown>, name: string): string {
  const value = said[name]
  if (typeof value === 'string' && value !== '') return value
  throw wrong(`${name} is missing, or no text`)
}

function optional(said: Record<string, unknown>, name: string): string | undefined {
  // Whoever has chosen nothing yet must not be taken for the owner: null is no agent.
  return said[name] === undefined ? undefined : text(said, name)
}

/** Arguments of prompts are texts, by the protocol. */
function textsIn(given: unknown): Record<string, string> | undefined {
  if (given === undefined) return undefined
  const entries = isRecord(given) ? Object.entries(given) : undefined
  if (entries?.every((entry): entry is [string, string] => typeof entry[1] === 'string'))
    return Object.fromEntries(entries)
  throw wrong('arguments is no map of texts')
}

function wrong(message: string): Fault {
  return new Fault('USAGE', message, { hint: 'see docs/gateway.md' })
}
