// A YAML text read by remembered offsets instead of by the parser.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sha256 } from '../base/digest.ts'
import { unsafeReason } from '../base/places.ts'
import { isRecord } from '../base/record.ts'
import type { Document } from './document.ts'
import type { Path } from './edit/change.ts'
import { lineIndex } from './line-index.ts'

/** Where a node begins and what it is; a scalar's text is cut out of the file. */
export type Outline = { at: number; map: [Outline, Outline | null][] } | { at: number; list: Outline[] } | Cut

interface Cut {
  at: number
  end: number
  kind: 'text' | 'quoted' | 'number' | 'true' | 'false' | 'null'
}

/** Where the outline of a text is kept: by the digest of the text, so that another text never gets it. */
export function outlineFile(cache: string, text: string): string {
  return join(cache, `${sha256(text)}.json`)
}

/** The text as a document, if its outline is remembered. */
export function recallYaml(cache: string, file: string, text: string): Document | undefined {
  if (unsafeReason(cache) !== undefined) return undefined
  try {
    const outline: unknown = JSON.parse(readFileSync(outlineFile(cache, text), 'utf8'))
    return isOutline(outline) ? documentOf(file, text, outline) : undefined
  } catch {
    // Not there, or not readable: the parser does it.
    return undefined
  }
}

/** A document made of a text and its outline. */
export function documentOf(file: string, text: string, root: Outline): Document {
  const positionAt = lineIndex(text)
  return {
    file,
    syntax: 'yaml',
    text,
    value: dataOf(root, text),
    at: (path) => positionAt(find(root, text, path).start),
    typed: (path) => {
      const { node, depth } = find(root, text, path)
      return depth === path.length && node && 'end' in node ? text.slice(node.at, node.end) : undefined
    },
  }
}

// --- internal ---

function isOutline(value: unknown): value is Outline {
  if (!isRecord(value) || typeof value['at'] !== 'number') return false
  const { map, list, end, kind } = value
  if (Array.isArray(list)) return list.every(isOutline)
  if (Array.isArray(map))
    return map.every(
      (pair) => Array.isArray(pair) && isOutline(pair[0]) && (pair[1] === null || isOutline(pair[1])),
    )
  return typeof end === 'number' && typeof kind === 'string'
}

function dataOf(node: Outline | null, text: string): unknown {
  if (node === null) return null
  if ('list' in node) return node.list.map((item) => dataOf(item, text))
  if ('end' in node) return scalarOf(node, text)
  const object: Record<string, unknown> = {}
  for (const [key, value] of node.map)
    Object.defineProperty(object, keyOf(key, text), {
      value: dataOf(value, text),
      enumerable: true,
      writable: true,
      configurable: true,
    })
  return object
}

function scalarOf(node: Cut, text: string): unknown {
  switch (node.kind) {
    case 'text':
      return text.slice(node.at, node.end)
    case 'quoted':
      return text.slice(node.at + 1, node.end - 1)
    case 'number':
      return Number(text.slice(node.at, node.end))
    case 'true':
      return true
    case 'false':
      return false
    case 'null':
      return null
  }
}

function keyOf(node: Outline, text: string): string {
  return 'end' in node ? String(scalarOf(node, text) ?? '') : ''
}

/** Walks as far down as the path goes; of a map, the place is the key's. */
function find(
  root: Outline,
  text: string,
  path: Path,
): { node: Outline | null; start: number; depth: number } {
  let node: Outline | null = root
  let start = root.at
  let depth = 0
  for (const step of path) {
    let next: Outline | null | undefined
    let place: number | undefined
    if (node && 'map' in node) {
      const pair: [Outline, Outline | null] | undefined = node.map.find(
        ([key]) => keyOf(key, text) === String(step),
      )
      next = pair?.[1]
      place = pair?.[0].at
    } else if (node && 'list' in node && typeof step === 'number') {
      next = node.list[step]
      place = next?.at
    }
    if (place === undefined) break
    node = next ?? null
    start = place
    depth++
  }
  return { node, start, depth }
}
