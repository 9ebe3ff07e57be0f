// Two agents with one token would be one: whoever shows it could be either.

import { expandText, type Scope as Ground } from './expand.ts'
import { problemAt } from './issues.ts'
import type { Problem } from './problem.ts'
import type { Agent } from './schema-agent.ts'
import type { Tree } from './tree.ts'

/** Agents whose token an earlier one has. Tokens that are not known, or of agents that are off, open nothing. */
export function sharedTokens(tree: Tree, agents: Readonly<Record<string, Agent>>, scope: Ground): Problem[] {
  const owners = new Map<string, string>()
  return Object.entries(agents).flatMap(([name, { token, enabled }]): Problem[] => {
    const expanded = token === undefined || !enabled ? undefined : expandText(token, scope)
    if (!expanded?.ok || expanded.value === '') return []
    const owner = owners.get(expanded.value)
    if (owner !== undefined) return [sharedToken(tree, name, tokenOf(tree, owner))]
    owners.set(expanded.value, name)
    return []
  })
}

/** `other`: whose it is as well. */
export function sharedToken(tree: Tree, agent: string, other: string): Problem {
  return problemAt(tree, ['agents', agent, 'token'], `is the same as ${other}`, {
    agent,
    hint: 'give each agent a token of its own',
  })
}

/** An agent's token, with where it stands. */
export function tokenOf(tree: Tree, agent: string): string {
  const { file, line, path } = problemAt(tree, ['agents', agent, 'token'], '')
  return `${path} (${file}${line === undefined ? '' : `:${line}`})`
}
