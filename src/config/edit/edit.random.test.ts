// Random files and changes: whatever a person wrote, an edit keeps it or refuses.

import fc from 'fast-check'
import { createScanner, findNodeAtLocation, parseTree } from 'jsonc-parser'
import { expect, test } from 'vitest'
import { Document, isMap, isNode, isPair, isSeq, parseDocument, type Scalar, visit } from 'yaml'
import { Fault } from '../../base/fault.ts'
import { tried } from '../../base/thorough.ts'
import { applyChange } from './apply.ts'
import type { Change, Path } from './change.ts'
import { editText } from './edit.ts'

type Syntax = 'yaml' | 'json'
interface File {
  readonly syntax: Syntax
  readonly text: string
}

// The suite repeats the same examples; a run with EDIT_RUNS looks for new ones.
const runs = process.env['EDIT_RUNS']
const settings = runs === undefined ? { numRuns: tried(500), seed: 20 } : { numRuns: Number(runs) }
const timeout = 20_000 + settings.numRuns * 50

// --- data ---

const split = (text: string): string[] => text.split('¦')
const ODD = [
  ...split(
    ' ¦1¦0x1¦null¦~¦true¦-¦- a¦? q¦: c¦x: y¦x:¦# h¦a #b¦it\'s¦a"b¦[¦]¦{k¦}¦,¦a, b¦&x¦*y¦!t¦%d¦@a¦`c¦|¦>',
  ),
  ...split('---¦...¦__proto__¦é¦a\tb¦ lead¦trail ¦//¦/* x */¦\\¦=¦\u2028¦😀¦1e3¦2001-01-01¦yes¦.inf¦'),
]
const TEXTS = split('a\nb¦a\nb\n¦\na¦a\n\n¦a\n\nb\n¦  a\nb¦a \nb¦# a\nb¦a: 1\n  b: 2\n¦\n¦a\r\nb')
const word = fc.constantFrom('a', 'b', 'c', 'd', 'name', 'command')
const key = fc.oneof({ weight: 5, arbitrary: word }, fc.constantFrom(...ODD, 'a\nb'))
const scalar = fc.oneof(
  { weight: 3, arbitrary: word },
  { weight: 2, arbitrary: fc.constantFrom(...ODD) },
  fc.constantFrom(...TEXTS, 'long words in a row '.repeat(6)),
  fc.constantFrom(null, true, false, 0, 7, -1.5, 1e21),
)
const { value, map } = fc.letrec<{ value: unknown; map: Record<string, unknown> }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    { weight: 3, arbitrary: scalar },
    fc.array(tie('value'), { maxLength: 3 }),
    tie('map'),
  ),
  map: fc
    .uniqueArray(fc.tuple(key, tie('value')), { selector: ([name]) => name, maxLength: 3 })
    .map(Object.fromEntries),
}))

function isFull(data: unknown): boolean {
  return typeof data === 'object' && data !== null && Object.keys(data).length > 0
}

// --- files ---

/** An endless supply of choices, drawn once, so that a failing example shrinks and repeats. */
const dice = fc
  .infiniteStream(fc.nat({ max: 999 }))
  .map((stream) => (sides: number) => Number(stream.next().value) % sides)
type Dice = (sides: number) => number

function sameYaml(text: string, data: unknown): boolean {
  const document = parseDocument(text, { logLevel: 'error' })
  return document.errors.length === 0 && JSON.stringify(document.toJS()) === JSON.stringify(data)
}

function yamlText(data: unknown, roll: Dice): string {
  const document = new Document(data, { aliasDuplicateObjects: false })
  visit(document, {
    Collection: (_, node) => {
      if (roll(4) === 0) node.flow = true
    },
  })
  const styled = document.toString({
    indent: 1 + roll(4),
    indentSeq: roll(2) === 0,
    lineWidth: [0, 20, 80][roll(3)] ?? 0,
    flowCollectionPadding: roll(2) === 0,
  })
  const plain = document.toJS()
  // The yaml package writes some block scalars wrongly at an indent of 1.
  const base = sameYaml(styled, plain) ? styled : document.toString({ lineWidth: 0 })
  let lines = base.replace(/\n$/, '').split('\n')
  /** The line with a comment, a blank line or another habit of writing. */
  const varied = (line: string, below: string): string => {
    const indents = [0, indentOf(line), indentOf(below), indentOf(line) + 1 + roll(6)]
    const own = `${' '.repeat(indents[roll(4)] ?? 0)}#${roll(2) ? '\t' : ' '}${mark()}`
    const behind = [`${line} # ${mark()}`, line && `${line}\t# ${mark()}`, `${line},`]
    const inside = [line.replace(/ null$/, ''), line.replace('- ', '-   ')]
    return [`${line}\n${own}`, `${line}\n\n${own}`, `${line}\n`, ...behind, ...inside][roll(8)] ?? line
  }
  let marks = 0
  const mark = (): string => `mark${marks++};`
  for (let count = roll(8); count > 0; count--) {
    const index = roll(lines.length)
    const changed = varied(lines[index] ?? '', lines[index + 1] ?? '')
    const next = lines.toSpliced(index, 1, ...changed.split('\n'))
    // Inside of a quoted or block scalar a comment would be text.
    if (sameYaml(`${next.join('\n')}\n`, plain)) lines = next
  }
  if (roll(4) === 0) lines.unshift(`# ${mark()}`)
  if (roll(5) === 0) lines.unshift('---')
  if (roll(5) === 0) lines.push('...', `# ${mark()}`)
  const last = lines.at(-1) ?? ''
  const end = roll(4) === 0 && sameYaml(lines.join('\n'), plain) && last.trim() !== '' ? '' : '\n'
  return lines.join('\n') + end
}

function jsonText(data: unknown, roll: Dice): string {
  const indent = ['', 1, 2, 4, '\t'][roll(5)]
  const base = JSON.stringify(data, null, indent)
  const often = 4 + roll(20)
  let result = ''
  let marks = 0
  const scanner = createScanner(base, false)
  for (scanner.scan(); scanner.getTokenLength() > 0; scanner.scan()) {
    const token = base.slice(scanner.getTokenOffset(), scanner.getPosition())
    // Before the closing bracket of a collection that has members.
    const closing = /^\n\s*[\]}]/.test(base.slice(scanner.getTokenOffset())) && /[^[{,]$/.test(result)
    if (closing && roll(8) === 0) result += ','
    const note = roll(often)
    if (note === 0) result += ` /* mark${marks++}; */`
    if (note === 1) result += ` // mark${marks++};\n`
    if (note === 2) result += '\n'
    if (note === 3 && roll(3) === 0) result += ` /* mark${marks++};\n over */ `
    result += token
  }
  return result + ['', '\n', `\n// mark${marks++};`][roll(3)]
}

const file = (syntax: Syntax): fc.Arbitrary<File> =>
  fc.tuple(map.filter(isFull), dice).map(([data, roll]) => {
    const text = syntax === 'yaml' ? yamlText(data, roll) : jsonText(data, roll)
    const ended = roll(3) === 0 ? text.replaceAll('\n', '\r\n') : text
    return { syntax, text: (roll(10) === 0 ? '\uFEFF' : '') + ended }
  })

/** Read without the code under test: comments and trailing commas taken out, the rest is plain JSON. */
function dataOf({ syntax, text }: File): unknown {
  const body = text.replace(/^\uFEFF/, '')
  if (syntax === 'yaml') return parseDocument(body).toJS()
  const scanner = createScanner(body, true)
  const tokens: string[] = []
  for (scanner.scan(); scanner.getTokenLength() > 0; scanner.scan()) {
    const token = body.slice(scanner.getTokenOffset(), scanner.getPosition())
    if (/^[\]}]/.test(token) && tokens.at(-1) === ',') tokens.pop()
    tokens.push(token)
  }
  return JSON.parse(tokens.join(''))
}

// --- changes ---

const draft = fc.record({
  kind: fc.constantFrom('set', 'new', 'deep', 'delete', 'delete', 'append', 'list'),
  pick: fc.nat(),
  name: key,
  other: key,
  value,
})
type Draft = typeof draft extends fc.Arbitrary<infer T> ? T : never

function childOf(data: unknown, name: string): unknown {
  return typeof data === 'object' && data !== null && Object.hasOwn(data, name)
    ? Reflect.get(data, name)
    : undefined
}

function* places(data: unknown, path: Path = []): Generator<{ path: Path; data: unknown }> {
  yield { path, data }
  if (typeof data !== 'object' || data === null) return
  for (const [name, child] of Object.entries(data)) {
    yield* places(child, [...path, Array.isArray(data) ? Number(name) : name])
  }
}

/** A change that fits the data, made from a draft that knew nothing of it. */
function fitted(root: unknown, { kind, pick, name, other, value }: Draft): Change | undefined {
  const all = [...places(root)]
  const maps = all.filter(({ data }) => typeof data === 'object' && data !== null && !Array.isArray(data))
  const fitting = {
    set: all.slice(1),
    delete: all.slice(1),
    append: all.filter(({ data }) => Array.isArray(data)),
    new: maps,
    deep: maps.filter(({ data }) => (childOf(data, name) ?? null) === null),
    list: maps.filter(({ data }) => (childOf(data, name) ?? null) === null),
  }[kind]
  const path = fitting[pick % Math.max(fitting.length, 1)]?.path
  if (path === undefined) return undefined
  if (kind === 'delete') return { kind, path }
  if (kind === 'append') return { kind, path, value }
  if (kind === 'list') return { kind: 'append', path: [...path, name], value }
  const rest = kind === 'set' ? [] : kind === 'new' ? [name] : [name, other]
  return { kind: 'set', path: [...path, ...rest], value }
}

// --- what may differ ---

type Range = readonly [number, number]

/** Ranges of the old text: comments may vanish only in `gone`, lines may change only where they meet `near`. */
interface Touched {
  readonly gone: Range
  readonly near: Range
}

const NONE: Range = [-1, -1]

function touchedYaml(text: string, { path, kind }: Change): Touched {
  const root: unknown = parseDocument(text).contents
  let node = root
  let lead = 0
  for (const [depth, segment] of path.entries()) {
    if (!isMap<Scalar>(node) && !isSeq(node)) break
    const { items, flow } = node
    const index = isMap<Scalar>(node)
      ? node.items.findIndex(({ key }) => String(key.value ?? '') === String(segment))
      : Number(segment)
    const item = items[index]
    const end = root === node ? text.length : span(node).end
    if (item === undefined) {
      const at = items.length > 0 ? span(items.at(-1)).end : lead
      return { gone: NONE, near: flow ? [at, end] : NONE }
    }
    const start = isMap(node) || flow ? span(item).start : text.lastIndexOf('-', span(item).start - 1)
    if (depth === path.length - 1 && kind === 'delete') {
      const compact = /\S/.test(text.slice(text.lastIndexOf('\n', start) + 1, start))
      const gone: Range = [start, Math.max(span(item).far, deeper(text, start, span(item).end))]
      if (!flow && items.length > 1 && !compact) return { gone, near: gone }
      const before = index > 0 ? span(items[index - 1]).end : lead
      const after = items[index + 1] === undefined ? end : span(items[index + 1]).start + 1
      return { gone, near: [before, Math.max(after, gone[1])] }
    }
    lead = start
    node = isPair(item) ? item.value : item
  }
  if (node === null) return { gone: NONE, near: [lead, lead] }
  const { start, end } = span(node)
  if (kind !== 'append') return { gone: [start, end], near: [lead, end] }
  if (!isSeq(node) || node.items.length === 0) return { gone: NONE, near: [lead, end] }
  return { gone: NONE, near: node.flow ? [span(node.items.at(-1)).end, end] : NONE }
}

/** `far` is the end with the comments that the parser counts to the node. */
function span(item: unknown): { start: number; end: number; far: number } {
  const [first, last] = isPair(item) ? [item.key, item.value ?? item.key] : [item, item]
  const range = (node: unknown): readonly number[] => (isNode(node) && node.range) || []
  return { start: range(first)[0] ?? 0, end: range(last)[1] ?? 0, far: range(last)[2] ?? 0 }
}

/** The end of the line, or of the comments below it that are indented deeper than the entry at `start`. */
function deeper(text: string, start: number, end: number): number {
  const column = start - text.lastIndexOf('\n', start) - 1
  const [first = '', ...rest] = text.slice(end).split('\n')
  let result = end + first.length
  let position = result
  for (const line of rest) {
    position += line.length + 1
    if (/^\s*$/.test(line)) continue
    if (!/^\s*#/.test(line) || indentOf(line) <= column) break
    result = position
  }
  return result
}

function touchedJson(text: string, { path, kind }: Change): Touched {
  const root = parseTree(text, [], { allowTrailingComma: true })
  for (let depth = path.length; depth >= 0 && root !== undefined; depth--) {
    const node = findNodeAtLocation(root, path.slice(0, depth))
    if (node === undefined) continue
    const end = node.offset + node.length
    if (depth < path.length || kind === 'append') {
      const last = node.children?.at(-1)
      return { gone: NONE, near: [last === undefined ? node.offset : last.offset + last.length, end] }
    }
    if (kind === 'set') return { gone: [node.offset, end], near: [node.offset, end] }
    const entry = node.parent?.type === 'property' ? node.parent : node
    const outer = entry.parent ?? root
    const siblings = outer.children ?? []
    const before = siblings[siblings.indexOf(entry) - 1]
    const after = siblings[siblings.indexOf(entry) + 1]?.offset ?? outer.offset + outer.length
    // The rest of the line goes with the entry, also behind a comma further down.
    const far = end + (/^(?:\s*,)?.*/.exec(text.slice(end))?.[0].length ?? 0)
    const from = before === undefined ? outer.offset : before.offset + before.length
    return { gone: [entry.offset, far], near: [from, Math.max(far, after)] }
  }
  return { gone: NONE, near: [0, text.length] }
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length
}

function isWithin<T>(part: readonly T[], whole: readonly T[]): boolean {
  let position = 0
  for (const element of whole) if (element === part[position]) position++
  return position === part.length
}

function marksIn(text: string): string[] {
  return text.match(/mark\d+;/g) ?? []
}

function expectKept(before: File, result: string, change: Change): void {
  const text = before.text.replace(/^\uFEFF/, '')
  const after = result.replace(/^\uFEFF/, '')
  expect(result.length - after.length).toBe(before.text.length - text.length)
  const { gone, near } = before.syntax === 'yaml' ? touchedYaml(text, change) : touchedJson(text, change)
  const kept = [...marksIn(text.slice(0, Math.max(gone[0], 0))), ...marksIn(text.slice(Math.max(gone[1], 0)))]
  expect(isWithin(kept, marksIn(after)), `comments ${kept} in ${marksIn(after)}`).toBe(true)
  expect(isWithin(marksIn(after), marksIn(text)), 'comments in order').toBe(true)
  if (text.includes('\n') && !/(^|[^\r])\n/.test(text)) expect(after).not.toMatch(/(^|[^\r])\n/)
  let position = 0
  // Below a scalar that keeps its line breaks, blank lines would become text and go with the entry above them.
  const keeps = /[|>]\d?\+/.test(text)
  const lines = text.split('\n').flatMap((line) => {
    const start = position
    position += line.length + 1
    if (keeps && line.trim() === '') return []
    return start + line.length < near[0] || start > near[1] ? [line.replace(/\r$/, '')] : []
  })
  expect(isWithin(lines, after.split(/\r?\n/)), `lines of ${change.kind} ${change.path}`).toBe(true)
}

// --- properties ---

for (const syntax of ['yaml', 'json'] as const) {
  const files = file(syntax)
  const drafts = fc.array(draft, { minLength: 1, maxLength: 3 })

  test(`${syntax}: random changes alter the data as told and nothing else`, { timeout }, () => {
    const check = (start: File, drafts: readonly Draft[]): void => {
      let { text } = start
      for (const draft of drafts) {
        const before = { syntax, text }
        const data = dataOf(before)
        const change = fitted(data, draft)
        if (change === undefined) continue
        text = editText(text, syntax, [change])
        expect(dataOf({ syntax, text })).toEqual(applyChange(data, change))
        if (text !== before.text) expectKept(before, text, change)
      }
    }
    fc.assert(fc.property(files, drafts, check), settings)
  })

  test(`${syntax}: a new entry that is deleted again leaves the bytes as they were`, { timeout }, () => {
    const check = ({ text }: File, { pick, name, value }: Draft): void => {
      const full = [...places(dataOf({ syntax, text }))].filter(({ data }) => isFull(data))
      const { path, data } = full[pick % full.length] ?? { path: [], data: {} }
      if (childOf(data, name) !== undefined) return
      const added = [...path, Array.isArray(data) ? data.length : name]
      const longer = editText(text, syntax, [{ kind: 'set', path: added, value }])
      expect(longer).not.toBe(text)
      expect(editText(longer, syntax, [{ kind: 'delete', path: added }])).toBe(text)
    }
    fc.assert(fc.property(files, draft, check), settings)
  })

  test(`${syntax}: repeating a change changes nothing more`, { timeout }, () => {
    const check = ({ text }: File, draft: Draft): void => {
      const change = fitted(dataOf({ syntax, text }), draft)
      // Deleting a list's element again would take the next one.
      if (change === undefined || (change.kind === 'delete' && typeof change.path.at(-1) === 'number')) return
      const once = editText(text, syntax, [change])
      expect(editText(once, syntax, [change])).toBe(once)
      expect(editText(text, syntax, [change, change])).toBe(once)
      expect(editText(text, syntax, [])).toBe(text)
    }
    fc.assert(fc.property(files, draft, check), settings)
  })
}

test('yaml: with aliases a change is made everywhere or refused', { timeout }, () => {
  let refused = 0
  const check = (a: unknown, b: unknown, draft: Draft): void => {
    const text = new Document({ a, b: [a, { b, c: b }], b2: b }).toString()
    const data = dataOf({ syntax: 'yaml', text })
    const change = fitted(data, draft)
    if (change === undefined) return
    try {
      const result = editText(text, 'yaml', [change])
      expect(dataOf({ syntax: 'yaml', text: result })).toEqual(applyChange(data, change))
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      expect(text).toContain('*')
      refused++
    }
  }
  fc.assert(fc.property(value, map, draft, check), settings)
  expect(refused).toBeLessThan(settings.numRuns / 4)
})
