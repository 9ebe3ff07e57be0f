// TOML with approximate positions: the parser gives none, so lines are found by table headers and keys.

import { parse, TomlError } from 'smol-toml'
import type { Document, Position, Reading } from './document.ts'
import type { Path } from './edit/change.ts'

export function parseTomlDocument(file: string, text: string): Reading {
  let value: unknown
  try {
    value = parse(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    const message = error.message.split('\n')[0] ?? 'not valid TOML'
    return {
      kind: 'broken',
      problems: [{ severity: 'error', file, line: error.line, column: error.column, message }],
    }
  }
  const document: Document = {
    file,
    syntax: 'toml',
    text,
    value,
    at: (path) => find(text, path),
    typed: () => undefined,
  }
  return { kind: 'document', document }
}

// --- internal ---

/** The line whose table header and key together cover most of the path. */
function find(text: string, path: Path): Position | undefined {
  const wanted = path.map(String)
  let table: string[] = []
  let best: { line: number; depth: number } | undefined
  text.split('\n').forEach((content, index) => {
    const header = /^\s*\[\[?\s*([^\]]+?)\s*\]\]?/.exec(content)
    if (header) table = dottedKey(header[1] ?? '')
    const key = header
      ? undefined
      : /^\s*("(?:[^"\\]|\\.)*"|'[^']*'|[\w-]+)((?:\s*\.\s*(?:"[^"]*"|'[^']*'|[\w-]+))*)\s*=/.exec(content)
    if (!header && !key) return
    const here = key ? [...table, ...dottedKey(`${key[1]}${key[2]}`)] : table
    const depth = here.every((step, position) => step === wanted[position]) ? here.length : 0
    if (depth > (best?.depth ?? 0)) best = { line: index + 1, depth }
  })
  return best && { line: best.line, column: 1 }
}

function dottedKey(text: string): string[] {
  return [...text.matchAll(/"((?:[^"\\]|\\.)*)"|'([^']*)'|([\w-]+)/g)].map(
    (match) => match[1] ?? match[2] ?? match[3] ?? '',
  )
}
