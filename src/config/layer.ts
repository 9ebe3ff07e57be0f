// One layer: a file (with what it extends) read, understood and checked. A bad entry costs only itself.

import type { Environment } from '../base/places.ts'
import { isRecord } from '../base/record.ts'
import { nearest } from '../base/suggest.ts'
import { type Document, type Position, readDocument } from './document.ts'
import { parseJsonDocument } from './document-json.ts'
import type { Path } from './edit/change.ts'
import { expandText } from './expand.ts'
import { detectFormat, FORMATS, type Format } from './formats/detect.ts'
import { readFormat } from './formats/read.ts'
import { type Problem, pathText, valueText } from './problem.ts'
import type { Server } from './schema-server.ts'
import { absolute, type Candidate, realPath, rootOf } from './sources.ts'
import { type Origin, type Scope, type Tree, treeOf } from './tree.ts'
import { checkLayer } from './validate.ts'

/** What is known of a file beyond its values. */
export interface Source extends Origin {
  readonly format: Format
  readonly document: Document
  /** Where relative paths in it start. */
  readonly root: string
  /** Written by the person or the machine's owner for Busbar, so that it needs no trust. */
  readonly trusted: boolean
}

export interface Layer {
  readonly source: Source
  readonly tree: Tree
  /** Servers that are left out because of problems, by name. */
  readonly broken: ReadonlyMap<string, readonly Problem[]>
  /** Where each of those stands in the file. */
  readonly brokenPaths: ReadonlyMap<string, Path>
  /** Its sound servers as the schema reads them. */
  readonly parsed: ReadonlyMap<string, Server>
  /** Agents and defaults that are left out, as they were written: what their lists name is still checked. */
  readonly leftOut: readonly Tree[]
}

export interface LayerReport {
  /** The extended files' layers, then the file's own. */
  readonly layers: readonly Layer[]
  readonly problems: readonly Problem[]
  readonly state: 'read' | 'absent' | 'broken'
}

interface LayerContext {
  readonly root: string
  readonly home: string
  readonly env: Environment
  /** Where outlines of files are remembered. */
  readonly cache?: string
}

const MAX_EXTENDS = 8

/** Reads a candidate and all it extends. */
export async function readLayers(candidate: Candidate, context: LayerContext): Promise<LayerReport> {
  return await read(candidate, context, [])
}

/** A layer from text that stands in no file, such as a flag. */
export function textLayer(
  name: string,
  scope: Scope,
  text: string,
  context: LayerContext,
): { layer?: Layer; problems: readonly Problem[] } {
  const reading = parseJsonDocument(name, text)
  if (reading.kind !== 'document') return { problems: reading.kind === 'broken' ? reading.problems : [] }
  const source = { scope, file: name, own: false }
  const made = makeLayer(reading.document, FORMATS.busbar, source, context, () => undefined)
  return { layer: made.layer, problems: made.problems }
}

/** The layer a text would be in place of a source's present one; undefined when it is no configuration. */
export function layerOf(document: Document, source: Source, context: LayerContext): Layer | undefined {
  const format = detectFormat(document, source.format.id === 'busbar')
  if (format === undefined) return undefined
  const candidate = { scope: source.scope, file: source.file, own: false }
  return makeLayer(document, format, candidate, context, (path) => document.at(path)).layer
}

// --- internal ---

async function read(
  candidate: Candidate,
  context: LayerContext,
  chain: readonly string[],
): Promise<LayerReport> {
  const reading = await readDocument(candidate.file, context.cache)
  if (reading.kind === 'absent') {
    if (!candidate.asked) return { layers: [], problems: [], state: 'absent' }
    const message = `does not exist (asked for by ${candidate.asked})`
    return { layers: [], problems: [{ severity: 'error', file: candidate.file, message }], state: 'absent' }
  }
  if (reading.kind === 'broken') return { layers: [], problems: reading.problems, state: 'broken' }
  const { document } = reading
  const format = formatOf(document, candidate)
  if ('severity' in format) return { layers: [], problems: [format], state: 'broken' }
  const extended = await readExtended(document, format, candidate, context, [
    ...chain,
    realPath(candidate.file),
  ])
  const own = makeLayer(document, format, candidate, context, (path) => document.at(path))
  return {
    layers: [...extended.layers, own.layer],
    problems: [...duplicates(candidate), ...extended.problems, ...own.problems],
    state: 'read',
  }
}

function makeLayer(
  document: Document,
  format: Format,
  candidate: Candidate,
  context: LayerContext,
  position: (path: Path) => Position | undefined,
): { layer: Layer; problems: readonly Problem[] } {
  const inProject = candidate.scope === 'project' || candidate.scope === 'local'
  const root = inProject ? rootOf(candidate.file) : context.root
  const { shape, problems } = readFormat(document, format, context.root)
  const source: Source = {
    file: candidate.file,
    scope: candidate.scope,
    position,
    format,
    document,
    root,
    trusted: !inProject && (candidate.own || candidate.scope === 'flag'),
  }
  const checked = checkLayer(treeOf(shape, source), format)
  const { tree, broken, leftOut, parsed } = checked
  const brokenPaths = new Map([...broken.keys()].map((name) => [name, shape.sourceOf(['servers', name])]))
  const layer = { source, tree, broken, brokenPaths, leftOut, parsed }
  return { layer, problems: [...problems, ...checked.problems] }
}

/** The format, or the problem of a file nobody can make sense of. */
function formatOf(document: Document, candidate: Candidate): Format | Problem {
  const format = detectFormat(document, candidate.own)
  if (format) return format
  const { value } = document
  if (value !== null && !isRecord(value))
    return { severity: 'error', file: candidate.file, message: `holds ${valueText(value)}; expected a map` }
  if (value === null || (isRecord(value) && Object.keys(value).length === 0)) return FORMATS.busbar
  const near = isRecord(value)
    ? Object.keys(value)
        .map((key) => [key, nearest(key, ['servers', 'mcpServers', 'integrations', 'agents'])] as const)
        .find(([key, found]) => found !== undefined && found !== key)
    : undefined
  return {
    severity: candidate.asked ? 'error' : 'warning',
    file: candidate.file,
    ...document.at(near ? [near[0]] : []),
    message: `holds no server definitions (expected a key such as servers, mcpServers or integrations)`,
    ...(near ? { hint: `did you mean "${near[1]}" instead of "${near[0]}"?` } : {}),
  }
}

async function readExtended(
  document: Document,
  format: Format,
  candidate: Candidate,
  context: LayerContext,
  chain: readonly string[],
): Promise<{ layers: Layer[]; problems: Problem[] }> {
  const given = isRecord(document.value) && format.id === 'busbar' ? document.value['extends'] : undefined
  if (given === undefined || given === null) return { layers: [], problems: [] }
  const list = Array.isArray(given) ? given : [given]
  const layers: Layer[] = []
  const problems: Problem[] = []
  for (const [index, item] of list.entries()) {
    const path = Array.isArray(given) ? ['extends', index] : ['extends']
    const complain = (message: string, extra: Partial<Problem> = {}) => {
      const place = { file: document.file, ...document.at(path), path: pathText(path) }
      problems.push({ severity: 'error', ...place, message, ...extra })
    }
    if (typeof item !== 'string' || item === '' || /^[a-z][a-z0-9+.-]+:\/\//i.test(item)) {
      complain(`is ${valueText(item)}; expected the path of a file`)
      continue
    }
    const expanded = expandText(item, { ...context, root: rootOf(candidate.file) })
    if (!expanded.ok) {
      complain(`is ${valueText(item)}, and ${expanded.missing.join(', ')} is not set`)
      continue
    }
    const file = absolute(expanded.value, rootOf(candidate.file), context.home)
    if (chain.includes(realPath(file))) complain(`is ${valueText(item)}, which extends this file again`)
    else if (chain.length >= MAX_EXTENDS) complain(`is nested too deeply (at most ${MAX_EXTENDS} files)`)
    else {
      const report = await read({ scope: candidate.scope, file, own: false }, context, chain)
      if (report.state === 'absent')
        complain(`is ${valueText(item)}, and ${file} does not exist`, { unread: file })
      layers.push(...report.layers)
      problems.push(...report.problems)
    }
  }
  return { layers, problems }
}

/** Two files by equivalent names: only the first is read, which must not go unsaid. */
function duplicates(candidate: Candidate): Problem[] {
  return (candidate.alternatives ?? []).map((other) => ({
    severity: 'warning',
    file: other,
    message: `is not read, because ${candidate.file} is there too`,
    hint: 'keep one of them',
  }))
}
