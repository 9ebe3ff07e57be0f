// The way of every command that changes a file: choose the file, change it, keep what was trusted trusted, say so, and wait
// until a running gateway goes by it.

import { existsSync } from 'node:fs'
import { dirname, relative } from 'node:path'
import { Fault } from '../base/fault.ts'
import type { Change } from '../config/edit/change.ts'
import { keepTrust } from '../config/keep-trust.ts'
import { errorsOf, loadConfig } from '../config/load.ts'
import type { Target } from '../config/plan.ts'
import type { Snapshot } from '../config/snapshot.ts'
import { absolute, homeOf } from '../config/sources.ts'
import { readTrust } from '../config/trust.ts'
import { changeFile, type Meant, type WriteTarget, type Written } from '../config/write.ts'
import { acknowledged } from './acknowledged.ts'
import { nearPath } from './describe.ts'
import type { Session } from './session.ts'

export type WriteScope = 'project' | 'user' | 'local'

export const SCOPE_OPTION = { short: 's', value: 'scope', about: 'project (default), user or local' } as const

/** Reads `-s`. */
export function writeScope(text: string): WriteScope {
  if (text === 'project' || text === 'user' || text === 'local') return text
  throw new Fault('USAGE', `-s is "${text}"; expected project, user or local`, {
    hint: 'without -s it is project',
  })
}

/**
 * The file a new entry goes to: the one given by --config, the scope's native file, or one in another format of ours that
 * stands in its place; else a new native file that goes on reading the other tools' files found there.
 */
export function writeTarget(session: Session, snapshot: Snapshot, scope: WriteScope): WriteTarget {
  const { places, root } = snapshot
  const given = session.options.config
  if (given !== undefined) {
    const file = absolute(given, process.cwd(), places.home)
    return { file, boundary: dirname(file), own: !existsSync(file) }
  }
  const file = homeOf(scope, root, places)
  const boundary =
    scope === 'user' ? (file.startsWith(`${places.home}/`) ? places.home : places.config) : root
  const mode = scope === 'project' ? 0o644 : 0o600
  if (existsSync(file)) return { file, boundary, own: true, mode }
  const standing = snapshot.layers.filter((layer) => layer.source.scope === scope)
  const ours = standing.filter((layer) => layer.source.format.ours).at(-1)
  if (ours) return { file: ours.source.file, boundary, own: false, mode }
  const theirs = standing.map((layer) => relative(dirname(file), layer.source.file))
  const start = theirs.length === 0 ? '' : `extends: [${theirs.map((it) => JSON.stringify(it)).join(', ')}]\n`
  return { file, boundary, own: true, mode, start: scope === 'local' ? '' : start }
}

/** The file in which a layer of the snapshot stands, as a target. */
export function layerTarget(snapshot: Snapshot, file: string): WriteTarget {
  const layer = snapshot.layers.find((candidate) => candidate.source.file === file)
  const scope = layer?.source.scope
  const { places, root } = snapshot
  const boundary =
    scope === 'user' && file.startsWith(`${places.home}/`)
      ? places.home
      : scope === 'user'
        ? dirname(file)
        : root
  return { file, boundary, own: layer?.source.format.id === 'busbar' }
}

/** A change of one file. */
export interface Edit {
  readonly target: WriteTarget
  readonly plan: (file: Target) => Change[]
  readonly meant: Meant
}

/** Makes the edits. `typed`: servers the person named, which are thereby trusted. */
export async function makeEdits(
  session: Session,
  before: Snapshot,
  edits: readonly Edit[],
  typed: readonly string[] = [],
): Promise<{ written: Written[]; after: Snapshot }> {
  // What cannot be kept must be said before anything is written.
  readTrust(before.places)
  // Several files are changed or none: each edit is tried before the first is made.
  if (edits.length > 1)
    for (const { target, plan, meant } of edits) await changeFile(target, plan, { meant, dryRun: true })
  const written: Written[] = []
  for (const { target, plan, meant } of edits) {
    const onWait = (owner: string) =>
      session.out.note(`waiting for process ${owner}, which is changing ${nearPath(target.file)} …`)
    written.push(await changeFile(target, plan, { meant, signal: session.signal, onWait }))
  }
  const after = await loadConfig(session.loadOptions)
  await keepTrust(after, written, typed)
  for (const { file, created, changed } of written)
    if (changed)
      session.out.note(session.out.style('dim', `${created ? 'made' : 'changed'} ${nearPath(file)}`))
  // The edit is done; what else is wrong is said but does not fail the command.
  for (const problem of errorsOf(after)) session.out.problem({ ...problem, severity: 'warning' })
  // Also those that said so already: the gateway may have refused them then.
  const files = written.map(({ file }) => file)
  const servers = edits.flatMap(({ meant }) => meant.servers ?? [])
  await acknowledged(session, after.places, { files, servers })
  return { written, after }
}
