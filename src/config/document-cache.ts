// Remembers where things stand in a YAML text, so that an unchanged file need not be parsed again: the parser is nearly
// half of what `busbar list` costs. Kept are offsets and kinds, found by the digest of the text, and nothing a person
// wrote: values are cut out of the text anew. Texts with anchors, tags, escapes or blocks are simply not remembered.

import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { isMap, isScalar, isSeq, type Scalar, type Document as YamlDocument } from 'yaml'
import { makeFolder, unsafeReason } from '../base/places.ts'
import { writeFileAtomic } from '../base/write-file.ts'
import type { Document } from './document.ts'
import { documentOf, type Outline, outlineFile } from './document-outline.ts'

const MAX_FILES = 64

/** Remembers a parsed text, if what would be read back is exactly what the parser read. Never fails. */
export function rememberYaml(cache: string, parsed: YamlDocument.Parsed, document: Document): void {
  const outline = outlineOf(parsed.contents, document.text)
  if (outline === undefined) return
  if (!isDeepStrictEqual(documentOf(document.file, document.text, outline).value, document.value)) return
  try {
    if (makeFolder(cache, 0o700) !== undefined || unsafeReason(cache) !== undefined) return
    prune(cache)
    writeFileAtomic(outlineFile(cache, document.text), JSON.stringify(outline), {
      mode: 0o600,
      durable: false,
    })
  } catch {
    // A cache that cannot be written is only slow.
  }
}

// --- internal ---

/** Offsets of a node, or undefined when it is anything but a plain map, list or one-line scalar. */
function outlineOf(node: unknown, text: string): Outline | undefined {
  if (isScalar(node)) return scalarOutline(node, text)
  if (isSeq(node)) {
    const list = node.items.map((item) => outlineOf(item, text)).filter((item) => item !== undefined)
    const whole = list.length === node.items.length && !node.anchor && !node.tag && node.range
    return whole ? { at: whole[0], list } : undefined
  }
  if (!isMap(node) || node.anchor || node.tag || !node.range) return undefined
  const map: [Outline, Outline | null][] = []
  for (const { key, value } of node.items) {
    const left = outlineOf(key, text)
    const right = value === null ? null : outlineOf(value, text)
    if (left === undefined || right === undefined || !('end' in left)) return undefined
    map.push([left, right])
  }
  return { at: node.range[0], map }
}

function scalarOutline(node: Scalar, text: string): Outline | undefined {
  if (node.anchor || node.tag || !node.range) return undefined
  const [at, end] = node.range
  const written = text.slice(at, end)
  if (/[\n\r]/.test(written)) return undefined
  if (node.type === 'QUOTE_DOUBLE' || node.type === 'QUOTE_SINGLE')
    return written.slice(1, -1) === node.value ? { at, end, kind: 'quoted' } : undefined
  if (node.type !== 'PLAIN') return undefined
  if (typeof node.value === 'string') return written === node.value ? { at, end, kind: 'text' } : undefined
  if (node.value === null) return { at, end, kind: 'null' }
  if (typeof node.value === 'boolean') return { at, end, kind: node.value ? 'true' : 'false' }
  return Number(written) === node.value ? { at, end, kind: 'number' } : undefined
}

function prune(cache: string): void {
  const files = readdirSync(cache).map((name) => join(cache, name))
  if (files.length < MAX_FILES) return
  const age = (file: string) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0
  const oldest = files.sort((a, b) => age(a) - age(b)).slice(0, MAX_FILES / 2)
  for (const file of oldest) rmSync(file, { force: true })
}
