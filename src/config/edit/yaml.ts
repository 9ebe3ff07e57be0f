// Splices for YAML: reads the file, finds the place, and picks the block or the flow form.

import { type Document, parseDocument } from 'yaml'
import { isShallow } from './apply.ts'
import { fillEmpty, insertItem, type Notation, removeItem } from './bracket.ts'
import type { Change } from './change.ts'
import type { Reading } from './reading.ts'
import { insertion, isBlank, lineBreak, lineNumber, type Splice } from './splice.ts'
import { planStep, type Step } from './step.ts'
import { fillFile, insertEntry, removeEntry, replaceBlock } from './yaml-block.ts'
import { columnOf, type Outline, outline } from './yaml-outline.ts'
import { renderFlow, type Style } from './yaml-render.ts'

export function readYaml(text: string): Reading {
  const document = parseDocument(text, { keepSourceTokens: true, prettyErrors: false, logLevel: 'error' })
  const error = document.errors[0]
  if (error !== undefined) {
    return problem(text, error.pos[0], MESSAGES.get(error.code) ?? error.message)
  }
  const outlined = outline(document, text)
  if (!outlined.ok) return problem(text, outlined.offset, outlined.problem)
  const data = dataOf(document)
  if (data === undefined) return problem(text, 0, 'aliases multiply the data beyond measure')
  const { root } = outlined
  const style = styleOf(document, text, root)
  return {
    ok: true,
    data: data.value,
    splices: (change: Change) => stepSplices(text, root, style, planStep(root, change)),
  }
}

// --- internal ---

/** For the parser's messages that speak to programmers. */
const MESSAGES: ReadonlyMap<string, string> = new Map([
  ['MULTIPLE_DOCS', 'a second document starts here'],
  ['DUPLICATE_KEY', 'the same key stands twice'],
])

/** The yaml package (2.9.1) refuses a comment at column 0 right below a flow map's last pair without a comma. */
const MAP_COMMA = { commaStays: /^[ \t]*(?:#.*)?\r?\n#/ }

function problem(text: string, offset: number, message: string): Reading {
  return { ok: false, problem: `line ${lineNumber(text, offset)}: ${message}` }
}

function dataOf(document: Document.Parsed): { value: unknown } | undefined {
  try {
    return { value: document.toJS() }
  } catch (error) {
    if (error instanceof ReferenceError) return undefined // the parser's guard against alias bombs
    throw error
  }
}

function stepSplices(text: string, root: Outline, style: Style, step: Step<Outline> | undefined): Splice[] {
  switch (step?.kind) {
    case undefined:
      return []
    case 'replace':
      if (step.target === root && root.form === 'empty') return fillFile(text, step.value, style)
      return replace(text, step.target, step.value, style)
    case 'insert':
      return insert(text, step.into, step.key, step.value, style)
    case 'remove':
      return remove(text, step.from, step.index, style)
  }
}

function replace(text: string, target: Outline, value: unknown, style: Style): Splice[] {
  const { form, start, end, hook, brackets } = target
  // A list on one line stays on one line.
  const items = brackets?.items.length ?? 0
  const oneLine = items > 0 && !text.slice(start, end).includes('\n') && isShallow(value)
  if (!hook.flow && !oneLine) return replaceBlock(text, target, value, style)
  const written = renderFlow(undefined, value, style)
  const at = hook.at ?? start
  const splice = form === 'empty' ? insertion(at, `${hook.glue} ${written}`) : { start, end, text: written }
  return [...hook.tags, splice]
}

function insert(
  text: string,
  into: Outline,
  key: string | number | undefined,
  value: unknown,
  style: Style,
): Splice[] {
  if (into.form === 'block') return insertEntry(text, into, key, value, style)
  const write = (): string => renderFlow(key, value, style)
  const { brackets } = into
  // A lone pair in a list, `[a: 1]`, gets the braces it did without.
  if (brackets === undefined) return [insertion(into.start, '{'), insertion(into.end, `, ${write()}}`)]
  if (brackets.items.length > 0) return insertItem(text, brackets, write, notation(style))
  const bare = isBlank(text.slice(brackets.open + 1, brackets.close))
  if (into.hook.flow || !bare) return fillEmpty(text, brackets, write, notation(style), undefined)
  return replaceBlock(text, into, key === undefined ? [value] : { [key]: value }, style)
}

function remove(text: string, from: Outline, index: number, style: Style): Splice[] {
  if (from.form === 'block') return removeEntry(text, from, index, style)
  if (from.brackets === undefined) return [{ start: from.start, end: from.end, text: '{}' }]
  return removeItem(text, from.brackets, index, { ...notation(style), ...(from.kind === 'map' && MAP_COMMA) })
}

function notation({ eol }: Style): Notation {
  return { eol, idle: /^[ \t]*(?:#.*)?$/, gap: ' ' }
}

function styleOf(document: Document.Parsed, text: string, root: Outline): Style {
  const nested = [...blocksUnderKeys(root)]
  const steps = nested.map((block) => columnOf(text, block.start) - block.hook.column)
  const lists = nested.flatMap((block, index) => (block.kind === 'list' ? [steps[index] ?? 0] : []))
  return {
    eol: lineBreak(text),
    indent: steps.find((step) => step > 0) ?? 2,
    indentSeq: (lists[0] ?? 1) > 0,
    version: document.directives?.yaml.version ?? '1.2',
  }
}

function* blocksUnderKeys(node: Outline): Generator<Outline> {
  for (const { key, value } of node.entries) {
    if (key !== undefined && value.form === 'block') yield value
    yield* blocksUnderKeys(value)
  }
}
