// `busbar tools [SERVER]`: the tools of one server, or of all that start by themselves.

import type { AgentTool } from '../../call/handle.ts'
import type { Connection } from '../../connect/connection.ts'
import { command } from '../command.ts'
import { gather, notStarted } from '../gather.ts'
import type { Output } from '../output.ts'
import { withHub } from '../private-hub.ts'
import { failOnErrors } from '../session.ts'

export const spec = command({
  summary: 'list tools',
  words: '[server]',
  options: { agent: { value: 'name', about: 'only what this agent may use' } },
  help: `
Starts the server that is named, or all that start by themselves, lists their tools, and ends them again. A server that
fails is said and the others are shown; exit 4 when the named one or all of them failed.

Examples:
  busbar tools
  busbar tools github
  busbar tools --agent cto --json`,
  run: async (session, [server], { agent }) => {
    const { out } = session
    const loaded = await session.load({ warnings: server === undefined })
    await withHub(session, loaded, { sayFailures: server === undefined }, async (hub, line) => {
      const { up, idle, reason } = await gather(session, loaded, hub, { server, agent, line })
      for (const { name, errors } of up.map((connection) => connection.status()))
        for (const { message } of errors) out.warn(`${name}: ${message}`)
      const shown = new Set([...up, ...idle].map(({ name }) => name))
      const handle = hub.as(agent)
      const tools = handle.tools(server).filter((tool) => shown.has(tool.server))
      const none = tools.length > 0 ? undefined : (reason ?? whyNone(up))
      if (out.json && none !== undefined) out.warn(none)
      const unknown = idle.filter((connection) => !connection.known)
      if (unknown.length > 0) out.warn(notStarted(unknown, 'tools'))
      out.answer({ tools: tools.map(forPrograms) }, () => none ?? table(tools, out))
    })
    if (server === undefined) failOnErrors(loaded.snapshot)
  },
})

// --- internal ---

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
    fingerprint: null,
    estimate: null,
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
