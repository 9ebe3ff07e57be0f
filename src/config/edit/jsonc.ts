// Splices for JSON and JSON with comments. All writing follows the file: its indent, its commas, one line or many.

import { createScanner, type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser'
import { isShallow } from './apply.ts'
import { type Bracketed, fillEmpty, type Item, insertItem, type Notation, removeItem } from './bracket.ts'
import type { Change } from './change.ts'
import type { Reading } from './reading.ts'
import { indentAt, insertion, lineBreak, lineNumber, type Splice, startsLine } from './splice.ts'
import { planStep, type Step, type Tree } from './step.ts'

export function readJsonc(text: string): Reading {
  const errors: ParseError[] = []
  const root = parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true })
  const error = errors[0]
  if (error !== undefined) {
    const words = printParseErrorCode(error.error).replace(/\B[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    return { ok: false, problem: `line ${lineNumber(text, error.offset)}: ${words}` }
  }
  if (root === undefined) return { ok: true, data: null, splices: (change) => fillFile(text, change) }
  const twice = duplicateKey(root)
  if (twice !== undefined) {
    return {
      ok: false,
      problem: `line ${lineNumber(text, twice.offset)}: the key ${twice.value} stands twice`,
    }
  }
  const tree = outline(text, root, root.offset)
  return {
    ok: true,
    data: dataOf(root),
    splices: (change) => stepSplices(text, tree, planStep(tree, change)),
  }
}

// --- internal ---

interface Outline extends Tree<Outline> {
  readonly start: number
  readonly end: number
  /** Where the entry that holds this value starts: at its key, if it has one. */
  readonly entryStart: number
  readonly brackets: Bracketed
  readonly entries: readonly { readonly key: string | undefined; readonly value: Outline }[]
}

interface Style extends Notation {
  /** One step of indentation. */
  readonly unit: string
  /** What stands behind a colon. */
  readonly colonGap: string
}

const IDLE = /^[ \t]*(?:\/\*(?:(?!\*\/).)*\*\/[ \t]*)*(?:\/\/.*)?$/

function stepSplices(text: string, root: Outline, step: Step<Outline> | undefined): Splice[] {
  if (step === undefined) return []
  const style = styleOf(text, root)
  switch (step.kind) {
    case 'replace': {
      const { start, end, entries } = step.target
      const oneLine = entries.length > 0 && !text.slice(start, end).includes('\n') && isShallow(step.value)
      const indent = oneLine ? undefined : ownIndent(text, step.target)
      return [{ start, end, text: written(step.value, indent, style) }]
    }
    case 'insert': {
      const { into, key, value } = step
      const write = (indent: string | undefined): string => {
        const label = key === undefined ? '' : `${JSON.stringify(String(key))}:${style.colonGap}`
        return label + written(value, indent, style)
      }
      if (into.entries.length > 0) return insertItem(text, into.brackets, write, style)
      const outer = ownIndent(text, into)
      const indent = outer === undefined ? undefined : outer + style.unit
      return fillEmpty(text, into.brackets, write, style, indent)
    }
    case 'remove':
      return removeItem(text, step.from.brackets, step.index, style)
  }
}

/** Gives a file without any value its first one, behind the comments it may hold. */
function fillFile(text: string, change: Change): Splice[] {
  const empty: Outline = {
    kind: 'null',
    entries: [],
    start: text.length,
    end: text.length,
    entryStart: text.length,
    brackets: { open: 0, close: 0, items: [] },
  }
  const step = planStep(empty, change)
  if (step?.kind !== 'replace') return []
  const style = styleOf(text, empty)
  const lead = text === '' || text.endsWith('\n') ? '' : style.eol
  return [insertion(text.length, lead + written(step.value, '', style) + style.eol)]
}

function outline(text: string, node: Node, entryStart: number): Outline {
  const children = (node.children ?? []).map((child) => {
    const [key, value] = child.type === 'property' ? (child.children ?? []) : [undefined, child]
    if (value === undefined) throw new Error('a property without a value passed the parser')
    return { child, key: key === undefined ? undefined : String(key.value), value }
  })
  const end = node.offset + node.length
  return {
    kind:
      node.type === 'object'
        ? 'map'
        : node.type === 'array'
          ? 'list'
          : node.type === 'null'
            ? 'null'
            : 'scalar',
    start: node.offset,
    end,
    entryStart,
    brackets: {
      open: node.offset,
      close: end - 1,
      items: children.map(({ child }): Item => {
        const after = child.offset + child.length
        return { start: child.offset, end: after, comma: commaAfter(text, after) }
      }),
    },
    entries: children.map(({ child, key, value }) => ({ key, value: outline(text, value, child.offset) })),
  }
}

/** The offset of the comma behind an entry, with only comments between. */
function commaAfter(text: string, offset: number): number | undefined {
  const scanner = createScanner(text, true)
  scanner.setPosition(offset)
  scanner.scan()
  return text[scanner.getTokenOffset()] === ',' ? scanner.getTokenOffset() : undefined
}

function styleOf(text: string, root: Outline): Style {
  const tight = /^[^"]*"[^"\\]*":\S/.test(text)
  return {
    eol: lineBreak(text),
    idle: IDLE,
    gap: tight ? '' : ' ',
    colonGap: tight ? '' : ' ',
    unit: unitOf(text, root) ?? '  ',
  }
}

/** The first step of indentation the file shows. */
function unitOf(text: string, node: Outline): string | undefined {
  const outer = indentAt(text, node.start)
  for (const { value } of node.entries) {
    const inner = indentAt(text, value.entryStart)
    const steps = startsLine(text, value.entryStart) && inner.startsWith(outer) && inner !== outer
    const unit = steps ? inner.slice(outer.length) : unitOf(text, value)
    if (unit !== undefined) return unit
  }
  return undefined
}

/** The indent of the line an entry starts; undefined when it shares its line, so that its value stays on it too. */
function ownIndent(text: string, node: Outline): string | undefined {
  return startsLine(text, node.entryStart) ? indentAt(text, node.entryStart) : undefined
}

function written(value: unknown, indent: string | undefined, style: Style): string {
  if (indent !== undefined)
    return JSON.stringify(value, null, style.unit).replaceAll('\n', style.eol + indent)
  if (style.colonGap === '') return JSON.stringify(value)
  // No string holds a raw line break, so each one here is JSON.stringify's own.
  const pretty = JSON.stringify(value, null, 1)
  return pretty
    .replace(/([[{])\n */g, '$1')
    .replace(/\n *([\]}])/g, '$1')
    .replace(/\n */g, ' ')
}

/** Not jsonc-parser's getNodeValue, which loses a key named `__proto__`. */
function dataOf(node: Node): unknown {
  const children = node.children ?? []
  if (node.type === 'array') return children.map(dataOf)
  if (node.type !== 'object') return node.value
  return Object.fromEntries(
    children.map(({ children: pair }) => [
      pair?.[0]?.value,
      pair?.[1] === undefined ? null : dataOf(pair[1]),
    ]),
  )
}

function duplicateKey(node: Node): Node | undefined {
  const seen = new Set<unknown>()
  for (const child of node.children ?? []) {
    const key = child.type === 'property' ? child.children?.[0] : undefined
    if (key !== undefined && seen.has(key.value)) return key
    if (key !== undefined) seen.add(key.value)
    const deeper = duplicateKey(child)
    if (deeper !== undefined) return deeper
  }
  return undefined
}
