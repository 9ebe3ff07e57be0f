// JSON with positions. Comments and trailing commas are accepted, as every client with an MCP file does.

import { findNodeAtLocation, type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser'
import type { Document, Position, Reading } from './document.ts'
import type { Path } from './edit/change.ts'
import type { Problem } from './problem.ts'

export function parseJsonDocument(file: string, original: string): Reading {
  // The byte-order mark is kept in `text` for edits; the parser does not know it, so it sees a space instead.
  const text = original.replace(/^\uFEFF/, ' ')
  const errors: ParseError[] = []
  const tree = parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true })
  const problems: Problem[] = errors.map((error) => ({
    severity: 'error',
    file,
    ...positionAt(text, error.offset),
    message: jsonMessage(printParseErrorCode(error.error)),
  }))
  if (problems.length > 0) return { kind: 'broken', problems: problems.slice(0, 5) }
  const value = tree === undefined ? null : toValue(tree, file, text, problems)
  if (problems.length > 0) return { kind: 'broken', problems }
  const document: Document = {
    file,
    syntax: 'json',
    text: original,
    value,
    at: (path) => {
      const node = tree && find(tree, path)
      return node && positionAt(text, node.offset)
    },
    typed: (path) => {
      const node = tree && findNodeAtLocation(tree, [...path])
      if (node?.type !== 'number' && node?.type !== 'boolean') return undefined
      return text.slice(node.offset, node.offset + node.length)
    },
  }
  return { kind: 'document', document }
}

/** Line and column (from 1) of an offset. */
function positionAt(text: string, offset: number): Position {
  const before = text.slice(0, offset)
  const line = before.split('\n').length
  return { line, column: offset - before.lastIndexOf('\n') }
}

// --- internal ---

/** The node of the longest part of the path that exists; of a property, its key. */
function find(tree: Node, path: Path): Node {
  for (let length = path.length; length > 0; length--) {
    const node = findNodeAtLocation(tree, path.slice(0, length))
    if (node === undefined) continue
    return node.parent?.type === 'property' ? node.parent : node
  }
  return tree
}

function toValue(node: Node, file: string, text: string, problems: Problem[]): unknown {
  if (node.type === 'array') return (node.children ?? []).map((child) => toValue(child, file, text, problems))
  if (node.type !== 'object') return node.value
  const object: Record<string, unknown> = {}
  for (const property of node.children ?? []) {
    const [key, value] = property.children ?? []
    if (key === undefined || value === undefined) continue
    const name: string = key.value
    if (Object.hasOwn(object, name)) {
      const message = `the key ${JSON.stringify(name)} stands twice in one object`
      problems.push({ severity: 'error', file, ...positionAt(text, key.offset), message })
    }
    // defineProperty, because assigning to `__proto__` would change the object instead of adding a key.
    Object.defineProperty(object, name, {
      value: toValue(value, file, text, problems),
      enumerable: true,
      writable: true,
      configurable: true,
    })
  }
  return object
}

function jsonMessage(code: string): string {
  const texts: Record<string, string> = {
    InvalidSymbol: 'a word that is not JSON (text needs double quotes)',
    InvalidNumberFormat: 'a number that is not JSON',
    PropertyNameExpected: 'expected a key in double quotes',
    ValueExpected: 'expected a value',
    ColonExpected: 'expected ":" after the key',
    CommaExpected: 'expected "," before this',
    CloseBraceExpected: 'expected "}"; the object is not closed',
    CloseBracketExpected: 'expected "]"; the list is not closed',
    EndOfFileExpected: 'there is more text after the end of the object',
    UnexpectedEndOfString: 'the text is not closed by a double quote',
    UnexpectedEndOfComment: 'the comment is not closed',
    InvalidEscapeCharacter: 'a backslash must be written twice in JSON text',
  }
  return texts[code] ?? `not valid JSON (${code})`
}
