// What an agent is told of its servers: only of those it may use and that can start. Built from the same assignments as
// the gate, so an agent is never told of what it cannot call.

import type { Assignment } from '../config/resolve.ts'
import type { Snapshot } from '../config/snapshot.ts'
import { resolveServer } from '../config/status.ts'

const PREFIX = {
  mcp__s__t: 'mcp__<server>__',
  mcp_s_t: 'mcp_<server>_',
  s__t: '<server>__',
  s_t: '<server>_',
} as const

/** The section of a prompt for one agent or worker; empty when there is nothing to tell. */
export function promptSection(active: Snapshot, id: string): string {
  const { config, assignments } = active
  const own = assignments.find((assignment) => assignment.id === id)
  if (own === undefined || !config.enabled || !own.enabled) return ''
  const servers = own.servers.filter((name) => canStart(active, name))
  const sections = [
    ...(servers.length > 0 ? [toolSection(active, own, servers)] : []),
    ...(isLead(active, own) ? [overview(active)] : []),
  ]
  return sections.filter((section) => section !== '').join('\n\n')
}

// --- internal ---

function toolSection({ config, servers }: Snapshot, own: Assignment, names: readonly string[]): string {
  const scheme = config.agents[own.agent]?.naming ?? 'mcp__s__t'
  const lines = names.map((name) => {
    const entry = servers.get(name)
    const category = entry?.definition?.category ?? entry?.catalog?.category
    const description = entry?.definition?.description ?? entry?.catalog?.description
    return `- **${name}**${category ? ` (${oneLine(category)})` : ''}${description ? `: ${oneLine(description)}` : ''}`
  })
  return [
    '## Your MCP Tools (External Integrations)',
    '',
    'You have access to the following external tools via MCP servers.',
    `Use them by calling tools prefixed with \`${PREFIX[scheme]}\`.`,
    '',
    ...lines,
  ].join('\n')
}

/** Who has what, for the one who leads. */
function overview(active: Snapshot): string {
  const rows = active.assignments
    .filter(({ enabled }) => enabled)
    .map(({ id, servers }) => ({ id, servers: servers.filter((name) => canStart(active, name)) }))
    .filter(({ servers }) => servers.length > 0)
    .map(({ id, servers }) => `- **${id}**: ${servers.join(', ')}`)
  return rows.length === 0 ? '' : ['## Who Has Which Integrations', '', ...rows].join('\n')
}

/** The configured lead, else the agent called ceo. */
function isLead({ config }: Snapshot, { agent, worker }: Assignment): boolean {
  return worker === undefined && agent === (config.lead ?? 'ceo')
}

/** Without a warning: that is said once, where servers are started. */
function canStart(active: Snapshot, name: string): boolean {
  const entry = active.servers.get(name)
  if (entry?.definition === undefined || !entry.definition.enabled) return false
  return resolveServer(entry, active)?.ok === true
}

/** Descriptions come from files; in a prompt they stay one line of text. */
function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
