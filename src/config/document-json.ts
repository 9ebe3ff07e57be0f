// JSON with positions. Comments and trailing commas are accepted, as every client with an MCP file does.

import { type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser'
import type { Document, Position, Reading } from './document.ts'
import type { Path } from './edit/change.ts'
import { lineIndex } from './line-index.ts'
import type { Problem } from './problem.ts'

export function parseJsonDocument(file: string, original: string): Reading {
  // The byte-order mark is kept in `text` for edits; the parser does not know it, so it sees a space instead.
  const text = original.replace(/^\uFEFF/, ' ')
  const positionAt = lineIndex(text)
  const errors: ParseError[] = []
  const tree = parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true })
  const problems: Problem[] = errors.map((error) => ({
    severity: 'error',
    file,
    ...positionAt(error.offset),
    message: jsonMessage(printParseErrorCode(error.error)),
  }))
  if (problems.length > 0) return { kind: 'broken', problems: problems.slice(0, 5) }
  const value = tree === undefined ? null : toValue(tree, file, positionAt, problems)
  if (problems.length > 0) return { kind: 'broken', problems }
  const document: Document = {
    file,
    syntax: 'json',
    text: original,
    value,
    at: (path) => {
      const node = tree && find(tree, path)
      return node && positionAt(node.offset)
    },
    typed: (path) => {
      const node = tree && nodeAt(tree, path)
      if (node?.type !== 'number' && node?.type !== 'boolean') return undefined
      return text.slice(node.offset, node.offset + node.length)
    },
  }
  return { kind: 'document', document }
}

// --- internal ---

/** The node of the longest part of the path that exists; of a property, its key. */
function find(tree: Node, path: Path): Node {
  for (let length = path.length; length > 0; length--) {
    const node = nodeAt(tree, path.slice(0, length))
    if (node === undefined) continue
    return node.parent?.type === 'property' ? node.parent : node
  }
  return tree
}

const members = new WeakMap<Node, Map<string, Node>>()

/** The node at a path. Members are looked up in a map that is made once: files with many servers ask for each. */
function nodeAt(tree: Node, path: Path): Node | undefined {
  let node: Node | undefined = tree
  for (const step of path) {
    if (node?.type === 'array' && typeof step === 'number') node = node.children?.[step]
    else if (node?.type === 'object') node = membersOf(node).get(String(step))
    else return undefined
  }
  return node
}

function membersOf(node: Node): Map<string, Node> {
  const known = members.get(node)
  if (known) return known
  const made = new Map<string, Node>()
  for (const property of node.children ?? []) {
    const [key, value] = property.children ?? []
    if (key && value) made.set(String(key.value), value)
  }
  members.set(node, made)
  return made
}

function toValue(
  node: Node,
  file: string,
  positionAt: (offset: number) => Position,
  problems: Problem[],
): unknown {
  if (node.type === 'array')
    return (node.children ?? []).map((child) => toValue(child, file, positionAt, problems))
  if (node.type !== 'object') return node.value
  const object: Record<string, unknown> = {}
  for (const property of node.children ?? []) {
    const [key, value] = property.children ?? []
    if (key === undefined || value === undefined) continue
    const name: string = key.value
    if (Object.hasOwn(object, name)) {
      const message = `the key ${JSON.stringify(name)} stands twice in one object`
      problems.push({ severity: 'error', file, ...positionAt(key.offset), message })
    }
    // defineProperty, because assigning to `__proto__` would change the object instead of adding a key.
    Object.defineProperty(object, name, {
      value: toValue(value, file, positionAt, problems),
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
