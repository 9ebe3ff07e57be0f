// `busbar tools [SERVER]`: the tools of one server, or of all that start by themselves.

import { Fault } from '../../base/fault.ts'
import type { AgentHandle, AgentTool } from '../../call/handle.ts'
import type { Connection } from '../../connect/connection.ts'
import type { ToolFormat } from '../../registry/formats/project.ts'
import type { NamingScheme } from '../../registry/names.ts'
import { command } from '../command.ts'
import { gather, notStarted } from '../gather.ts'
import type { Output } from '../output.ts'
import { withHub } from '../private-hub.ts'
import { failOnErrors } from '../session.ts'

export const spec = command({
  summary: 'list tools',
  words: '[server]',
  options: {
    agent: { value: 'name', about: 'only what this agent may use' },
    format: { value: 'format', about: 'as a model wants them: anthropic, openai, gemini or ai-sdk' },
    naming: { value: 'scheme', about: 'with --format: mcp__s__t, mcp_s_t, s__t or s_t' },
    search: { value: 'words', about: 'only those that fit these words, best first' },
  },
  help: `
Starts the server that is named, or all that start by themselves, lists their tools, and ends them again. A server that
fails is said and the others are shown; exit 4 when the named one or all of them failed.

Examples:
  busbar tools
  busbar tools github
  busbar tools --agent cto --json
  busbar tools --agent cto --format anthropic
  busbar tools --search 'open an issue'`,
  run: async (session, [server], { agent, search, ...projection }) => {
    const { out } = session
    const format = formatOf(projection.format)
    const naming = namingOf(projection.naming)
    const loaded = await session.load({ warnings: server === undefined })
    await withHub(session, loaded, { sayFailures: server === undefined }, async (hub, line) => {
      const { up, idle, reason } = await gather(session, loaded, hub, { server, agent, line })
      for (const { name, errors } of up.map((connection) => connection.status()))
        for (const { message } of errors) out.warn(`${name}: ${message}`)
      const shown = new Set([...up, ...idle].map(({ name }) => name))
      await hub.energy?.estimates.ready()
      const handle = hub.as(agent)
      const seen = handle
        .tools(server)
        .filter((tool) => shown.has(tool.server) || (agent !== undefined && tool.server === ''))
      const tools = search === undefined ? seen : found(handle, search, seen)
      const none =
        tools.length > 0 ? undefined : noneReason({ search, reason, agent, empty: handle.whyEmpty(), up })
      if (out.json && none !== undefined) out.warn(none)
      const unknown = idle.filter((connection) => !connection.known)
      if (unknown.length > 0) out.warn(notStarted(unknown, 'tools'))
      if (format === undefined) {
        out.answer({ tools: tools.map(forPrograms) }, () => none ?? table(tools, out))
        return
      }
      const projected = handle.toolsFor({ server, format, naming })
      for (const { address, reason: why } of projected.leftOut) out.warn(`${address} is left out: ${why}`)
      out.answer(projected, () => none ?? JSON.stringify(projected.tools, undefined, 2).split('\n'))
    })
    if (server === undefined) failOnErrors(loaded.snapshot)
  },
})

// --- internal ---

function formatOf(text: string | undefined): ToolFormat | undefined {
  if (
    text === undefined ||
    text === 'anthropic' ||
    text === 'openai' ||
    text === 'gemini' ||
    text === 'ai-sdk'
  )
    return text
  throw new Fault('USAGE', `--format is "${text}"; expected anthropic, openai, gemini or ai-sdk`)
}

function namingOf(text: string | undefined): NamingScheme | undefined {
  if (text === undefined || text === 'mcp__s__t' || text === 'mcp_s_t' || text === 's__t' || text === 's_t')
    return text
  throw new Fault('USAGE', `--naming is "${text}"; expected mcp__s__t, mcp_s_t, s__t or s_t`)
}

function found(handle: AgentHandle, words: string, seen: readonly AgentTool[]): AgentTool[] {
  const byAddress = new Map(seen.map((tool) => [tool.address, tool]))
  return handle.search(words, 20).flatMap(({ address }) => byAddress.get(address) ?? [])
}

function noneReason(about: {
  search: string | undefined
  reason: string | undefined
  agent: string | undefined
  empty: string | undefined
  up: readonly Connection[]
}): string {
  const { search, reason, agent, empty, up } = about
  if (search !== undefined && empty === undefined) return `No tool fits "${search}".`
  if (reason !== undefined) return reason
  const kept = agent !== undefined && up.some((connection) => connection.tools.length > 0)
  if (!kept) return whyNone(up)
  return empty ?? `${agent} may use none of the tools of ${up.map(({ name }) => name).join(', ')}.`
}

function forPrograms(tool: AgentTool): object {
  const { name, address, server, title, description, inputSchema, outputSchema, annotations } = tool
  return {
    name,
    address,
    server,
    ...(title === undefined ? {} : { title }),
    description: description ?? null,
    inputSchema,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    annotations: annotations ?? {},
    fingerprint: tool.fingerprint,
    estimate: tool.estimate ?? null,
  }
}

function table(tools: readonly AgentTool[], out: Output): string[] {
  return out.table(
    ['TOOL', 'SAID TO BE', 'DESCRIPTION'],
    tools.map((tool) => [tool.address, mark(tool), oneLine(tool)]),
  )
}

/** What its server says of it, which is no promise. */
function mark({ annotations = {} }: AgentTool): string {
  if (annotations['readOnlyHint'] === true) return 'read-only'
  return annotations['destructiveHint'] === true ? 'destructive' : '-'
}

function oneLine({ description, title }: AgentTool): string {
  const text = typeof description === 'string' ? description : typeof title === 'string' ? title : ''
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > 90 ? `${line.slice(0, 89)}…` : line
}

function whyNone(up: readonly Connection[]): string {
  if (up.length === 0) return 'No server was started, and none is known from an earlier run.'
  const names = up.map(({ name }) => name).join(', ')
  const chosen = up.some(({ plan }) => plan.filters)
  const left = chosen ? ' that tools.include and tools.exclude leave' : ''
  return `${names} ${up.length > 1 ? 'have' : 'has'} no tools${left}.`
}
