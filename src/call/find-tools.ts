// The tools of an agent that is not shown all others: find some by words, see one whole, call it. What may not be called
// is not found, and described in the same words as what is not there.

import { Fault } from '../base/fault.ts'
import { nearest } from '../base/suggest.ts'
import type { NativeTool } from '../registry/native.ts'
import type { RegisteredTool } from '../registry/registry.ts'
import type { Surface } from './surface.ts'
import { listed } from './surface-tools.ts'
import { CALL_TOOL, DESCRIBE_TOOL, isForAll, SEARCH_TOOLS, type View } from './view.ts'

/** `surfaceOf` gives what whoever calls may see. */
export function findTools(surfaceOf: (agent: string | undefined) => Surface): NativeTool[] {
  const seen = async (agent: string | undefined): Promise<View> => {
    await surfaceOf(agent).settled()
    return surfaceOf(agent).view
  }
  return [
    {
      name: SEARCH_TOOLS,
      description: `Finds tools by words: what they do, on what, or a server's name. Gives names, best first; ${DESCRIBE_TOOL} gives one's parameters, ${CALL_TOOL} calls it.`,
      inputSchema: {
        type: 'object',
        properties: {
          query: { type: 'string', description: 'what the tool should do, e.g. "create github issue"' },
          limit: { type: 'integer', minimum: 1, maximum: MOST, description: `default ${USUAL}` },
        },
        required: ['query'],
        additionalProperties: false,
      },
      ...SERVING,
      run: async ({ query, limit = USUAL }, { agent }) =>
        found(await seen(agent), String(query), Number(limit)),
    },
    {
      name: DESCRIBE_TOOL,
      description: `Gives the whole definition of a tool that ${SEARCH_TOOLS} found: description and parameters.`,
      inputSchema: {
        type: 'object',
        properties: { name: { type: 'string', description: `as ${SEARCH_TOOLS} gives it` } },
        required: ['name'],
        additionalProperties: false,
      },
      ...SERVING,
      run: async ({ name }, { agent }) => described(await seen(agent), String(name)),
    },
    {
      name: CALL_TOOL,
      description: `Calls a tool that ${SEARCH_TOOLS} found. The result is that tool's own.`,
      inputSchema: {
        type: 'object',
        properties: {
          name: { type: 'string', description: `as ${SEARCH_TOOLS} gives it` },
          arguments: { type: 'object', description: `as ${DESCRIBE_TOOL} says` },
        },
        required: ['name'],
        additionalProperties: false,
      },
      reads: true,
      service: true,
      // What it means is called in its stead (find-tools-call.ts); this is left of calls that mean nothing.
      run: () => {
        throw new Fault('USAGE', `${CALL_TOOL} cannot call ${CALL_TOOL}`, {
          hint: 'name the tool that is meant',
        })
      },
    },
  ]
}

/** How tools are found, for the model of whoever is not shown them; undefined where all are listed. */
export function searchHint(view: View): string | undefined {
  if (!view.searches) return undefined
  const servers = [...countsOf(view).keys()]
  const named = servers.slice(0, MOST_SERVERS).join(', ')
  const more = servers.length > MOST_SERVERS ? ` and ${servers.length - MOST_SERVERS} more` : ''
  return (
    `Tools are found, not listed${named && ` (of ${named}${more})`}: ${SEARCH_TOOLS} {query}, then ${DESCRIBE_TOOL} {name} for its parameters.\n` +
    `Call one with ${CALL_TOOL} {name, arguments}, or directly by its name.`
  )
}

// --- internal ---

const SERVING = { annotations: { readOnlyHint: true, openWorldHint: false }, reads: true, service: true }
const USUAL = 8
const MOST = 50
const MOST_SERVERS = 20
/** Characters of what is said of a tool. */
const LINE = 160

function found(view: View, query: string, limit: number): string {
  const all = view.tools.filter(isForAll)
  // Those that are listed for models anyway are no news.
  const best = view
    .search(query, limit + view.tools.length - all.length)
    .map(({ entry }) => entry)
    .filter(isForAll)
    .slice(0, limit)
  if (best.length > 0)
    return [
      `${best.length} of ${all.length} tools, best first:`,
      ...best.map((entry) => line(view, entry)),
    ].join('\n')
  const servers = [...countsOf(view)].map(([server, count]) => `${server} (${count})`)
  if (all.length === 0) return 'Nothing was found: there are no tools.'
  return `Nothing fits. There are ${all.length} tools, of: ${servers.join(', ')}. Try other words, or a server's name.`
}

function line(view: View, entry: RegisteredTool): string {
  const { tool } = entry
  const { required } = tool.inputSchema
  const needs = Array.isArray(required) ? required.filter((one) => typeof one === 'string') : []
  const said = firstLine(typeof tool.description === 'string' ? tool.description : (tool.title ?? ''))
  const parts = [view.nameOf(entry), said, needs.length === 0 ? '' : `needs ${oneLine(needs.join(', '))}`]
  return `- ${parts.filter((part) => part !== '').join(' — ')}`
}

/** Its first sentence, as far as that tells something. */
function firstLine(text: string): string {
  const whole = oneLine(text)
  const [sentence = whole] = /^.{20,}?[.!?](?=\s)/.exec(whole) ?? []
  return sentence.length <= LINE ? sentence : `${[...sentence].slice(0, LINE - 1).join('')}…`
}

/** Text of servers cannot begin lines of its own here, and so is never taken for another tool. */
function oneLine(text: string): string {
  return text
    .slice(0, 16 * LINE)
    .replace(/[\p{C}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim()
}

function described(view: View, name: string): string {
  const entry = view.named(name) ?? view.tools.find(({ address }) => address === name)
  if (entry && isForAll(entry)) return JSON.stringify(listed(view.nameOf(entry), entry))
  const names = view.tools.filter(isForAll).map((tool) => view.nameOf(tool))
  const near = nearest(name, names)
  const alike = view.search(name, 3).flatMap((it) => (isForAll(it.entry) ? [view.nameOf(it.entry)] : []))
  const meant = near === undefined ? alike : [near]
  throw new Fault('TOOL_UNKNOWN', `there is no tool ${JSON.stringify(name.slice(0, 200))}`, {
    hint: meant.length > 0 ? `did you mean ${meant.join(' or ')}?` : `find one with ${SEARCH_TOOLS}`,
  })
}

/** How many tools each server has, in the order of their names. */
function countsOf(view: View): Map<string, number> {
  const counts = new Map<string, number>()
  for (const entry of view.tools) {
    if (!isForAll(entry)) continue
    const server = entry.server === '' ? 'busbar' : entry.server
    counts.set(server, (counts.get(server) ?? 0) + 1)
  }
  return new Map([...counts].sort(([one], [other]) => (one < other ? -1 : 1)))
}
