// Why somebody may call something or not: the steps of the decision, each with the file and line that says so, and the
// command that would change it.

import { shellWord } from '../base/shell-word.ts'
import type { Snapshot } from '../config/snapshot.ts'
import { placeOf, subtree } from '../config/tree.ts'
import type { Decision, Step } from './decide.ts'

export interface ExplainedStep {
  readonly rule: string
  readonly outcome: Step['outcome']
  readonly detail: string
  readonly file?: string
  readonly line?: number
}

export interface Explanation {
  readonly verdict: Decision['verdict']
  readonly reason: string
  readonly risk?: string
  readonly steps: readonly ExplainedStep[]
  /** A command, or what to edit where no command does it. */
  readonly fix?: string
}

export interface Subject {
  readonly agent: string
  readonly server: string
  readonly tool: string | undefined
}

export function explain(
  snapshot: Snapshot,
  subject: Subject,
  decision: Decision,
  steps: readonly Step[],
): Explanation {
  const last = steps.at(-1)
  const fix = last && decision.verdict !== 'allow' ? fixFor(snapshot, subject, last, decision) : undefined
  return {
    verdict: decision.verdict,
    reason: decision.reason,
    ...(decision.verdict === 'deny' ? {} : { risk: decision.risk }),
    steps: steps.map((step) => located(snapshot, step)),
    ...(fix === undefined ? {} : { fix }),
  }
}

// --- internal ---

/** The strictest preset that does not ask for such a tool. */
const LENIENT = { read: 'writes', write: 'destructive', destructive: 'never' } as const

function located(snapshot: Snapshot, { rule, outcome, detail, path }: Step): ExplainedStep {
  if (path === undefined) return { rule, outcome, detail }
  const place = placeOf(snapshot.tree, path)
  const line = place.origin.position(place.path)?.line ?? nearestLine(snapshot, path)
  const { file } = place.origin
  return { rule, outcome, detail, file, ...(line === undefined ? {} : { line }) }
}

/** What is not written stands where it would be written. */
function nearestLine(snapshot: Snapshot, path: readonly (string | number)[]): number | undefined {
  for (let length = path.length - 1; length > 0; length--) {
    const found = subtree(snapshot.tree, path.slice(0, length))
    const line = found?.place.origin.position(found.place.path)?.line
    if (line !== undefined) return line
  }
  return undefined
}

function fixFor(
  snapshot: Snapshot,
  { agent, server, tool }: Subject,
  step: Step,
  decision: Decision,
): string {
  const where = located(snapshot, step)
  const at = where.file ? ` (${where.file}${where.line ? `:${where.line}` : ''})` : ''
  switch (step.rule) {
    case 'enabled':
      return `set enabled: true${at}`
    case 'agent':
      return `busbar agents enable ${shellWord(agent)}`
    case 'access':
      return snapshot.servers.has(server)
        ? `busbar agents grant ${shellWord(agent)} ${shellWord(server)}`
        : `busbar add ${shellWord(server)} --agent ${shellWord(agent)} -- COMMAND`
    case 'server':
      return snapshot.servers.has(server) ? `busbar enable ${shellWord(server)}` : 'busbar list'
    case 'deny':
      return `busbar agents grant ${shellWord(agent)} ${shellWord(step.pattern ?? '')}`
    case 'allow':
      return `busbar agents grant ${shellWord(agent)} ${shellWord(server === '' ? (tool ?? '') : `${server}/${tool}`)}`
    case 'offered':
      return `edit ${(step.path ?? []).join('.')}${at}`
    case 'pin':
      return `busbar pins accept ${shellWord(`${server}/${tool}`)}`
    case 'remembered':
      return `busbar approve rules remove ${step.pattern}`
    default: {
      const isPreset = step.pattern === undefined && step.path?.[0] !== 'servers'
      return decision.verdict === 'ask' && isPreset
        ? `busbar agents approval ${shellWord(agent.split('/')[0] ?? agent)} ${LENIENT[decision.risk]}`
        : `edit ${(step.path ?? []).join('.')}${at}`
    }
  }
}
