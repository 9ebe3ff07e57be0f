// With which errors nothing may be started: those that may have taken away what limits somebody. A file of ours that is in
// force and cannot be read whole may have denied, switched off or asked; every other error costs only itself.

import { Fault } from '../base/fault.ts'
import { errorsOf } from './load.ts'
import type { Problem } from './problem.ts'
import type { Snapshot } from './snapshot.ts'
import { type Candidate, realPath } from './sources.ts'
import { readTrust } from './trust.ts'

/** The errors that keep a gateway from starting, each with the reason. */
export function graveProblems(snapshot: Snapshot): Problem[] {
  const errors = errorsOf(snapshot)
  if (errors.length === 0) return []
  const answered = answeredFor(snapshot)
  return errors
    .filter((problem) => isGrave(problem, snapshot, answered))
    .map((problem) => ({ ...problem, hint: problem.hint ? `${problem.hint}; ${REASON}` : REASON }))
}

// --- internal ---

const REASON = 'mend it first: nothing starts while it is not known what this limits'

/** The keys of what a person has trusted; undefined when nobody can tell. */
type Answered = ReadonlySet<string> | undefined

function isGrave(problem: Problem, snapshot: Snapshot, answered: Answered): boolean {
  // A server that is left out is there for nobody, and neither is one of the same name that it hides.
  if (problem.server !== undefined || problem.alone) return false
  const from = snapshot.raisedBy.get(problem)
  if (from === undefined) return problem.agent === undefined
  const isOurs = from.own && from.scope !== 'project' && from.scope !== 'local'
  // What such a file extends is asked about like any other.
  const isInForce = isOurs && problem.file === from.file
  // An agent that is left out of such a file is left out of all of them.
  if (isInForce) return problem.agent === undefined
  const files = [from.file, problem.file, problem.unread].flatMap((file) => file ?? [])
  return (
    isUnreadThoughAsked(from, snapshot) ||
    files.some((file) => wasInForce(realPath(file), snapshot, answered))
  )
}

function isUnreadThoughAsked({ asked, file }: Candidate, { looked }: Snapshot): boolean {
  return asked !== undefined && looked.some((it) => it.file === file && it.state !== 'read')
}

/** Whether a person once accepted the file's settings, or a server of it that stood before one of the same name. */
function wasInForce(file: string, snapshot: Snapshot, answered: Answered): boolean {
  if (answered === undefined || answered.has(`settings:${file}`)) return true
  if (snapshot.layers.some(({ source }) => realPath(source.file) === file)) return false
  return [...snapshot.servers.keys()].some((name) => answered.has(`server:${file}:${name}`))
}

function answeredFor({ places }: Snapshot): Answered {
  try {
    return new Set(Object.keys(readTrust(places).trusted))
  } catch (error) {
    if (error instanceof Fault) return undefined
    throw error
  }
}
