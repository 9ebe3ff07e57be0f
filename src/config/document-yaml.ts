// YAML with positions.

import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  type YAMLMap,
  type Document as YamlDocument,
} from 'yaml'
import type { Document, Position, Reading } from './document.ts'
import { rememberYaml } from './document-cache.ts'
import type { Path } from './edit/change.ts'
import type { Problem } from './problem.ts'

export function parseYamlDocument(file: string, text: string, cache?: string): Reading {
  const lines = new LineCounter()
  const parsed = parseDocument(text, { lineCounter: lines, prettyErrors: false, merge: true })
  if (parsed.errors.length > 0) {
    const problems = parsed.errors.map((error): Problem => {
      const { line, col } = lines.linePos(Math.min(error.pos[0], text.trimEnd().length))
      return { severity: 'error', file, line, column: col, message: yamlMessage(error.code, error.message) }
    })
    return { kind: 'broken', problems }
  }
  let value: unknown
  try {
    value = parsed.toJS({ maxAliasCount: 100 }) ?? null
  } catch (error) {
    // An unknown or far too often repeated alias.
    const message = error instanceof Error ? error.message : String(error)
    const [, alias] = /: ([^\s:]+)$/.exec(message) ?? []
    const at = alias === undefined ? -1 : text.indexOf(`*${alias}`)
    const place = at < 0 ? {} : { line: lines.linePos(at).line, column: lines.linePos(at).col }
    return { kind: 'broken', problems: [{ severity: 'error', file, ...place, message: lowerFirst(message) }] }
  }
  const document: Document = {
    file,
    syntax: 'yaml',
    text,
    value,
    at: (path) => position(parsed, lines, path),
    typed: (path) => {
      const { node, depth } = find(parsed, path)
      return depth === path.length && isScalar(node) ? node.source : undefined
    },
  }
  if (cache !== undefined) rememberYaml(cache, parsed, document)
  return { kind: 'document', document }
}

// --- internal ---

function position(parsed: YamlDocument.Parsed, lines: LineCounter, path: Path): Position | undefined {
  const { start } = find(parsed, path)
  if (start === undefined) return undefined
  const { line, col } = lines.linePos(start)
  return { line, column: col }
}

interface Found {
  readonly node: Node | undefined
  /** Where the key (of a map) or the element (of a list) begins. */
  readonly start: number | undefined
  readonly depth: number
}

/** Walks as far down as the path goes; a key's own place is better for a message than its value's. */
function find(parsed: YamlDocument.Parsed, path: Path): Found {
  let node: Node | undefined = parsed.contents ?? undefined
  let start = node?.range?.[0]
  let depth = 0
  for (const step of path) {
    if (isAlias(node)) node = node.resolve(parsed)
    let next: Node | undefined
    let nextStart: number | undefined
    if (isMap<Node, Node>(node)) {
      const pair = pairsOf(node).get(String(step))
      next = pair?.value ?? undefined
      nextStart = pair === undefined ? undefined : pair.key.range?.[0]
    } else if (isSeq<Node>(node) && typeof step === 'number') {
      next = node.items[step]
      nextStart = next?.range?.[0]
    }
    if (nextStart === undefined) break
    node = next
    start = nextStart
    depth++
  }
  return { node, start, depth }
}

const pairs = new WeakMap<YAMLMap<Node, Node>, Map<string, Pair<Node, Node>>>()

/** A map's pairs by key, made once: files with many servers ask for each. */
function pairsOf(node: YAMLMap<Node, Node>): Map<string, Pair<Node, Node>> {
  const known = pairs.get(node)
  if (known) return known
  const made = new Map<string, Pair<Node, Node>>()
  for (const pair of node.items) if (isScalar(pair.key)) made.set(String(pair.key.value), pair)
  pairs.set(node, made)
  return made
}

function yamlMessage(code: string, message: string): string {
  switch (code) {
    case 'TAB_AS_INDENT':
      return 'a tab is used for indentation; YAML allows only spaces'
    case 'DUPLICATE_KEY':
      return 'the same key stands twice in one map'
    case 'MULTIPLE_DOCS':
      return 'more than one YAML document in the file; only one is read'
    default:
      return lowerFirst(message)
  }
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1)
}
