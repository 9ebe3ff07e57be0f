// The whole configuration, read once: found, understood, checked, merged. Whatever is wrong is in `problems`; what is
// right is in `config`. Past this file everything is typed and whole.

import { join } from 'node:path'
import { type Environment, type Places, placesOf } from '../base/places.ts'
import { assemble } from './assemble.ts'
import { variablesOf } from './expand.ts'
import { environmentTree, parseServerFlags } from './flags.ts'
import { type Layer, readLayers, textLayer } from './layer.ts'
import { secretsIn } from './missing.ts'
import type { Problem } from './problem.ts'
import { type SecretReader, secretReader } from './secret-reader.ts'
import type { Looked, Snapshot } from './snapshot.ts'
import { type Candidate, candidates, projectRoot, rootOf } from './sources.ts'
import type { Program, Tree } from './tree.ts'
import { texts } from './validate.ts'

export interface LoadOptions {
  readonly cwd?: string
  readonly env?: Environment
  readonly places?: Places
  /** `--config`: this file instead of the user's, the project's and the local one. */
  readonly config?: string | undefined
  /** A configuration as data, instead of all files but the machine-wide one. It needs no trust: a program wrote it. */
  readonly data?: object | undefined
  /** @internal What of the library was given the data, for messages. */
  readonly by?: Program | undefined
  /** `--mcp-server` flags. */
  readonly servers?: readonly string[] | undefined
}

/** Reads everything. Only a mistake on the command line itself is thrown. */
export async function loadConfig(options: LoadOptions = {}): Promise<Snapshot> {
  const cwd = options.cwd ?? process.cwd()
  const env = options.env ?? process.env
  const places = options.places ?? placesOf(env)
  const found = candidates({ cwd, env, places, config: options.config }).filter(
    ({ scope }) => options.data === undefined || scope === 'managed',
  )
  const asked = options.config === undefined ? undefined : found[0]
  const context = { root: projectRoot(cwd), home: places.home, env, cache: join(places.cache, 'outlines') }
  const root = asked ? rootOf(asked.file) : context.root
  const problems: Problem[] = []
  const looked: Looked[] = []
  const raisedBy = new Map<Problem, Candidate>()
  const files: Layer[] = []
  const managed: Layer[] = []
  for (const candidate of found) {
    const report = await readLayers(candidate, context)
    for (const problem of report.problems) {
      problems.push(problem)
      raisedBy.set(problem, candidate)
    }
    const format = report.layers.at(-1)?.source.format.title
    looked.push({
      scope: candidate.scope,
      file: candidate.file,
      state: report.state,
      own: candidate.own,
      ...(format ? { format } : {}),
    })
    ;(candidate.scope === 'managed' ? managed : files).push(...report.layers)
  }
  if (options.data !== undefined) {
    const data = textLayer(options.by ?? 'createHub', 'flag', JSON.stringify(options.data), context)
    problems.push(...data.problems)
    if (data.layer) files.push(data.layer)
  }
  const flags = flagLayer(options.servers ?? [], context)
  problems.push(...flags.problems)
  const environment = environmentTree(env)
  problems.push(...environment.problems)
  const layers = [...files, ...flags.layers, ...managed]
  const secrets = await openIfNamed([...layers.map(({ tree }) => tree), environment.tree], places, env)
  return assemble(
    { root, env, places, secrets, looked, layers, environment: environment.tree, raisedBy },
    problems,
  )
}

/** The errors of a snapshot; warnings are only said. */
export function errorsOf(snapshot: Pick<Snapshot, 'problems'>): Problem[] {
  return snapshot.problems.filter((problem) => problem.severity === 'error')
}

// --- internal ---

/** Opening takes a key, which may take a second: only for who needs it. */
async function openIfNamed(
  trees: readonly (Tree | undefined)[],
  places: Places,
  env: Environment,
): Promise<SecretReader | undefined> {
  const values = trees.flatMap((tree) => (tree ? texts(tree).map(({ text }) => text) : []))
  const named = values.filter((text) => text.includes('${secret:'))
  if (named.length === 0) return undefined
  const { openSecrets } = await import('../secrets/secrets.ts')
  return secretReader(await openSecrets(places, env), secretsIn(variablesOf(named)))
}

function flagLayer(
  flags: readonly string[],
  context: { root: string; home: string; env: Environment },
): { layers: Layer[]; problems: readonly Problem[] } {
  if (flags.length === 0) return { layers: [], problems: [] }
  const text = JSON.stringify({ servers: parseServerFlags(flags) })
  const { layer, problems } = textLayer('--mcp-server', 'flag', text, context)
  return { layers: layer ? [layer] : [], problems }
}
