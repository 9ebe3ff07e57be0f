// `busbar tools [SERVER]`: the tools of one server, or of all that start by themselves.

import type { AgentTool } from '../../call/handle.ts'
import { oneOf } from '../../gateway/api-lists.ts'
import { TOOL_FORMATS } from '../../registry/formats/project.ts'
import { NAMING_SCHEMES } from '../../registry/names.ts'
import { command } from '../command.ts'
import { notStarted, tellServers, type UpServer } from '../gather.ts'
import type { Output } from '../output.ts'
import { withServers } from '../servers.ts'
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
Asks the running gateway where it follows the same configuration; else starts the server that is named, or all that start by
themselves, lists their tools, and ends them again. A server that fails is said and the others are shown; exit 4 when the
named one or all of them failed.

Examples:
  busbar tools
  busbar tools github
  busbar tools --agent cto --json
  busbar tools --agent cto --format anthropic
  busbar tools --search 'open an issue'`,
  run: async (session, [server], { agent, search, ...projection }) => {
    const { out } = session
    const format = oneOf('--format', TOOL_FORMATS, projection.format ?? null)
    const naming = oneOf('--naming', NAMING_SCHEMES, projection.naming ?? null)
    const loaded = await session.load({ warnings: server === undefined })
    await withServers(session, loaded, async (servers) => {
      const answer = await servers.tools({ server, agent, search, format, naming })
      const { up, idle, reason } = tellServers(session, loaded, agent, answer.servers)
      for (const { name, errors } of up) for (const message of errors) out.warn(`${name}: ${message}`)
      const shown = new Set([...up, ...idle].map(({ name }) => name))
      const tools = answer.tools.filter(
        (tool) => shown.has(tool.server) || (agent !== undefined && tool.server === ''),
      )
      const none =
        tools.length > 0 ? undefined : noneReason({ search, reason, agent, empty: answer.reason, up })
      if (out.json && none !== undefined) out.warn(none)
      const unknown = idle.filter(({ known }) => !known)
      if (unknown.length > 0) out.warn(notStarted(unknown, 'tools'))
      const { projected } = answer
      if (projected === undefined) {
        out.answer({ tools: tools.map(forPrograms) }, () => none ?? table(tools, out))
        return
      }
      for (const { address, reason: why } of projected.leftOut) out.warn(`${address} is left out: ${why}`)
      out.answer(projected, () => none ?? JSON.stringify(projected.tools, undefined, 2).split('\n'))
    })
    if (server === undefined) failOnErrors(loaded.snapshot)
  },
})

// --- internal ---

function noneReason(about: {
  search: string | undefined
  reason: string | undefined
  agent: string | undefined
  empty: string | undefined
  up: readonly UpServer[]
}): string {
  const { search, reason, agent, empty, up } = about
  if (search !== undefined && empty === undefined) return `No tool fits "${search}".`
  if (reason !== undefined) return reason
  const kept = agent !== undefined && up.some(({ tools }) => tools > 0)
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

function whyNone(up: readonly UpServer[]): string {
  if (up.length === 0) return 'No server was started, and none is known from an earlier run.'
  const names = up.map(({ name }) => name).join(', ')
  const chosen = up.some(({ filtered }) => filtered)
  const left = chosen ? ' that tools.include and tools.exclude leave' : ''
  return `${names} ${up.length > 1 ? 'have' : 'has'} no tools${left}.`
}
