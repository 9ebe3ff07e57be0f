// A configuration file as data that still knows where each value was written.

import { readFileSync, statSync } from 'node:fs'
import { extname } from 'node:path'
import { parseJsonDocument } from './document-json.ts'
import { recallYaml } from './document-outline.ts'
import type { Path } from './edit/change.ts'
import { type Problem, pathText } from './problem.ts'

export type Syntax = 'yaml' | 'json' | 'toml'

export interface Position {
  readonly line: number
  readonly column: number
}

export interface Document {
  readonly file: string
  readonly syntax: Syntax
  readonly text: string
  /** Plain data; null for an empty file. */
  readonly value: unknown
  /** Where a path stands; for one that is not in the file, its nearest parent. */
  readonly at: (path: Path) => Position | undefined
  /** A number or boolean as it was typed (`1.10` stays `1.10`), for places that want text. */
  readonly typed: (path: Path) => string | undefined
}

export type Reading =
  | { readonly kind: 'document'; readonly document: Document }
  | { readonly kind: 'absent' }
  | { readonly kind: 'broken'; readonly problems: readonly Problem[] }

const MAX_BYTES = 4 * 1024 * 1024

/**
 * Reads one file, by what `cache` remembers of its text where it can. Whatever is wrong with it comes back as problems,
 * never as an exception.
 */
export async function readDocument(file: string, cache?: string): Promise<Reading> {
  let bytes: Buffer
  try {
    const stats = statSync(file, { throwIfNoEntry: false })
    if (stats === undefined) return { kind: 'absent' }
    if (!stats.isFile()) return broken(file, 'is not a file')
    if (stats.size > MAX_BYTES) return broken(file, `has ${stats.size} bytes; at most ${MAX_BYTES} are read`)
    bytes = readFileSync(file)
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    if (reason === 'ENOENT' || reason === 'ENOTDIR') return { kind: 'absent' }
    return broken(
      file,
      `cannot be read (${reason})`,
      reason === 'EACCES' ? 'check its permissions' : undefined,
    )
  }
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return broken(file, 'is not UTF-8 text', 'save it as UTF-8')
  }
  return await parseDocument(file, text, syntaxOf(file, text), cache)
}

/** Parses text that stands, or would stand, in `file`. Only the parser that is needed is loaded. */
export async function parseDocument(
  file: string,
  text: string,
  syntax: Syntax = syntaxOf(file, text),
  cache?: string,
): Promise<Reading> {
  try {
    return shallow(await parseAs(file, text, syntax, cache))
  } catch (error) {
    // The parsers recurse, so absurd nesting ends in a RangeError.
    if (error instanceof RangeError) return broken(file, 'is nested too deeply')
    throw error
  }
}

/** An error at a path of a document. */
export function problemIn(document: Document, path: Path, message: string): Problem {
  return { severity: 'error', file: document.file, ...document.at(path), path: pathText(path), message }
}

/** By ending; a file without a telling one is JSON when it starts like JSON. */
export function syntaxOf(file: string, text = ''): Syntax {
  switch (extname(file).toLowerCase()) {
    case '.json':
    case '.jsonc':
    case '.json5':
      return 'json'
    case '.toml':
      return 'toml'
    case '.yaml':
    case '.yml':
      return 'yaml'
    default:
      return /^\s*(?:\/[/*]|[{[])/.test(text.replace(/^\uFEFF/, '')) ? 'json' : 'yaml'
  }
}

// --- internal ---

const MAX_DEPTH = 40

/** Below this the parser is quick; above, the outline would be large. */
const WORTH_REMEMBERING = { least: 500, most: 64 * 1024 }

async function parseAs(file: string, text: string, syntax: Syntax, cache?: string): Promise<Reading> {
  switch (syntax) {
    case 'yaml': {
      const { least, most } = WORTH_REMEMBERING
      const folder = text.length >= least && text.length <= most ? cache : undefined
      const known = folder === undefined ? undefined : recallYaml(folder, file, text)
      if (known) return { kind: 'document', document: known }
      return (await import('./document-yaml.ts')).parseYamlDocument(file, text, folder)
    }
    case 'json':
      return parseJsonDocument(file, text)
    case 'toml':
      return (await import('./document-toml.ts')).parseTomlDocument(file, text)
  }
}

/** No configuration is deep; what is costs time in every later step. */
function shallow(reading: Reading): Reading {
  if (reading.kind !== 'document' || depthOf(reading.document.value) <= MAX_DEPTH) return reading
  return broken(reading.document.file, `is nested too deeply (more than ${MAX_DEPTH} levels)`)
}

function depthOf(value: unknown, depth = 0): number {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return depth
  let most = depth
  for (const child of Object.values(value)) most = Math.max(most, depthOf(child, depth + 1))
  return most
}

function broken(file: string, message: string, hint?: string): Reading {
  return { kind: 'broken', problems: [{ severity: 'error', file, message, ...(hint ? { hint } : {}) }] }
}
