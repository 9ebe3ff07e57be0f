// Where everything stands in a YAML text: the parser's nodes and tokens brought into the few facts a splice needs.

import {
  type CST,
  type Document,
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  type Pair,
  type ParsedNode,
} from 'yaml'
import type { Bracketed, Item } from './bracket.ts'
import { isBlank, lineBreak, lineEnd, lineStart, previousLineEnd, type Splice, skipSpaces } from './splice.ts'
import type { Tree } from './step.ts'

/** What a value hangs on: the `:` or `-` before it, with its anchor and tag. */
export interface Hook {
  /** End of the indicator or the anchor; undefined for a value with nothing before it. */
  readonly at: number | undefined
  /** To be written at `at` before any value, where the indicator itself is missing (`{a}`, `? a`). */
  readonly glue: string
  /** Column of the entry that holds the value; -1 at the root. */
  readonly column: number
  /** A block collection may start right behind it: it is a dash without an anchor. */
  readonly compact: boolean
  readonly dash: boolean
  /** The value is inside `{…}` or `[…]`. */
  readonly flow: boolean
  /** Takes the tag away; a new value has its own type. */
  readonly tags: readonly Splice[]
}

interface Entry {
  readonly key: string | undefined
  readonly start: number
  readonly end: number
  readonly value: Outline
}

export interface Outline extends Tree<Outline> {
  readonly form: 'empty' | 'inline' | 'text' | 'flow' | 'block'
  /** Without anchor and tag. */
  readonly start: number
  /** The end of the last character that counts: no comment, no line break. */
  readonly end: number
  /** End of a block scalar's `|` or `>` with its indicators. */
  readonly headerEnd: number
  readonly hook: Hook
  readonly entries: readonly Entry[]
  /** Missing for block collections, and for a single pair in a flow list: `[a: 1]`. */
  readonly brackets: Bracketed | undefined
  readonly anchored: Outline | undefined
}

type Outlined =
  | { readonly ok: true; readonly root: Outline }
  | { readonly ok: false; readonly offset: number; readonly problem: string }

export function columnOf(text: string, offset: number): number {
  return offset - lineStart(text, offset)
}

export function outline(document: Document.Parsed, text: string): Outlined {
  const builder = new Builder(document, text)
  const root = builder.value(document.contents, rootHook(text, document.contents))
  return builder.problem ?? { ok: true, root }
}

// --- internal ---

type Problem = Extract<Outlined, { ok: false }>
type Token = CST.SourceToken
type Collection = Extract<ParsedNode, { items: unknown }>

const FIRST: Hook = {
  at: undefined,
  glue: '',
  column: -1,
  compact: false,
  dash: false,
  flow: false,
  tags: [],
}

class Builder {
  problem: Problem | undefined
  readonly #document: Document.Parsed
  readonly #text: string
  readonly #known = new Map<unknown, Outline>()

  constructor(document: Document.Parsed, text: string) {
    this.#document = document
    this.#text = text
  }

  value(node: ParsedNode | null, hook: Hook): Outline {
    const made = this.#made(node, hook)
    if (node !== null) this.#known.set(node, made)
    return made
  }

  #made(node: ParsedNode | null, hook: Hook): Outline {
    const at = hook.at ?? 0
    const [start, end] = node?.range ?? [at, at]
    const plain: Outline = {
      kind: 'scalar',
      form: 'inline',
      start,
      end,
      headerEnd: start,
      hook,
      entries: [],
      brackets: undefined,
      anchored: undefined,
    }
    if (node === null) return { ...plain, kind: 'null', form: 'empty' }
    if (isAlias(node)) return { ...plain, anchored: this.#anchored(node.resolve(this.#document), start) }
    if (isMap(node) || isSeq(node)) return this.#collection(node, plain)
    if (!isScalar(node)) return plain
    const kind = node.value === null ? 'null' : 'scalar'
    const token = node.srcToken
    if (token?.type === 'block-scalar') {
      const header = token.props.find((part) => part.type === 'block-scalar-header')
      const headerEnd = header === undefined ? start : tokenEnd(header)
      return {
        ...plain,
        kind,
        form: 'text',
        headerEnd,
        end: textEnd(this.#text, start, end, headerEnd, hook),
      }
    }
    return { ...plain, kind, form: start === end ? 'empty' : 'inline' }
  }

  #anchored(node: unknown, offset: number): Outline | undefined {
    const found = this.#known.get(node)
    const problem =
      node === undefined ? 'an alias has no anchor before it' : 'an alias stands inside of its own anchor'
    if (found === undefined) this.problem ??= { ok: false, offset, problem }
    return found
  }

  #collection(node: Collection, plain: Outline): Outline {
    const token = node.srcToken
    const flow = token?.type !== 'block-map' && token?.type !== 'block-seq'
    const entries = isMap(node)
      ? node.items.map((pair) => this.#pair(pair, flow))
      : this.#elements(node.items, token?.items ?? [], flow)
    if (isMap(node)) this.#refuseTwice(entries)
    const made = { ...plain, kind: isMap(node) ? 'map' : 'list', entries } as const
    if (!flow) {
      return {
        ...made,
        form: 'block',
        start: entries[0]?.start ?? plain.start,
        end: entries.at(-1)?.end ?? plain.end,
      }
    }
    if (token?.type !== 'flow-collection')
      return { ...made, form: 'flow', end: entries.at(-1)?.end ?? plain.end }
    const close = token.end[0]?.offset ?? plain.end - 1
    return { ...made, form: 'flow', brackets: { open: plain.start, close, items: commas(entries, token) } }
  }

  #pair(pair: Pair<ParsedNode, ParsedNode | null>, flow: boolean): Entry {
    const sep = pair.srcToken?.sep ?? []
    const [keyStart, keyEnd] = pair.key.range
    const start = pair.srcToken?.start.find(begins)?.offset ?? keyStart
    const column = columnOf(this.#text, start)
    let hook = hookOf(sep, { ...FIRST, column, flow }, this.#text)
    if (hook.at === undefined && flow) hook = { ...hook, at: keyEnd, glue: ':' }
    if (hook.at === undefined)
      hook = {
        ...hook,
        at: lineEnd(this.#text, keyEnd),
        glue: `${lineBreak(this.#text)}${' '.repeat(column)}:`,
      }
    this.value(pair.key, FIRST) // a key may carry an anchor too
    const value = this.value(pair.value, hook)
    const end = value.form === 'empty' ? (endOf(sep) ?? keyEnd) : value.end
    return { key: this.#keyText(pair.key), start, end, value }
  }

  #elements(nodes: Collection['items'], items: readonly CST.CollectionItem[], flow: boolean): Entry[] {
    const sources = items.filter((item) => isElement(item, flow))
    return nodes.flatMap((node, index) => {
      if (isPair(node)) return [] // `!!omap` and `!!pairs` are no plain data: applyChange refuses to edit them
      const tokens = sources[index]?.start ?? []
      const start = tokens.find(begins)?.offset ?? node.range[0]
      const column = columnOf(this.#text, start)
      const lonePair = sources[index]?.sep !== undefined
      const hook = hookOf(lonePair ? [] : tokens, { ...FIRST, column, flow, dash: !flow }, this.#text)
      const made = this.value(node, hook)
      const value = lonePair ? { ...made, start } : made // with the `?` it may have
      const end = value.form === 'empty' ? (endOf(tokens) ?? value.end) : value.end
      return [{ key: undefined, start, end, value }]
    })
  }

  #keyText(key: ParsedNode): string | undefined {
    const node = isAlias(key) ? key.resolve(this.#document) : key
    if (!isScalar(node)) return undefined
    return node.value === null ? '' : String(node.value)
  }

  /** The parser compares keys by value; as data `1` and `"1"` are one key. */
  #refuseTwice(entries: readonly Entry[]): void {
    const seen = new Set<string>()
    for (const { key, start } of entries) {
      if (key !== undefined && seen.has(key)) {
        this.problem ??= { ok: false, offset: start, problem: `the key ${key} stands twice` }
      }
      if (key !== undefined) seen.add(key)
    }
  }
}

function rootHook(text: string, node: ParsedNode | null): Hook {
  const start = node?.range?.[0] ?? 0
  const before = text.slice(lineStart(text, start), start).trimEnd()
  return before.startsWith('---') ? { ...FIRST, at: lineStart(text, start) + before.length } : FIRST
}

function hookOf(tokens: readonly Token[], base: Hook, text: string): Hook {
  let at: number | undefined
  let last: number | undefined
  let anchor = false
  const tags: Splice[] = []
  for (const token of tokens.filter(counts)) {
    if (token.type === 'comma' || token.type === 'explicit-key-ind') continue
    const end = tokenEnd(token)
    if (token.type !== 'tag') at = end
    else if (last !== undefined) tags.push({ start: last, end, text: '' })
    else tags.push({ start: token.offset, end: skipSpaces(text, end), text: '' })
    if (token.type === 'anchor') anchor = true
    last = end
  }
  return { ...base, at, tags, compact: base.dash && !anchor }
}

function commas(entries: readonly Entry[], token: CST.FlowCollection): Item[] {
  const offsets = token.items.flatMap((item) => item.start.filter((part) => part.type === 'comma'))
  return entries.map(({ start, end }, index) => ({ start, end, comma: offsets[index]?.offset }))
}

/** The parser keeps comments and a last comma in items that are no elements. */
function isElement(item: CST.CollectionItem, flow: boolean): boolean {
  if (!flow) return item.start.some((token) => token.type === 'seq-item-ind')
  return item.start.some(begins) || item.sep !== undefined || item.value !== undefined
}

/** A block scalar's trailing blank lines belong to it only when it says so (`|+`) or when they hold indented spaces. */
function textEnd(text: string, start: number, end: number, headerEnd: number, hook: Hook): number {
  let last = text[end - 1] === '\n' ? previousLineEnd(text, end) : end
  if (text.slice(start, headerEnd).includes('+')) return last
  while (last > headerEnd) {
    const from = lineStart(text, last)
    if (!isBlank(text.slice(from, last)) || last - from > Math.max(hook.column, 0)) break
    last = previousLineEnd(text, from)
  }
  return last
}

function counts(token: Token): boolean {
  return token.type !== 'space' && token.type !== 'newline' && token.type !== 'comment'
}

/** Counts, and is part of the entry it stands before. */
function begins(token: Token): boolean {
  return counts(token) && token.type !== 'comma'
}

function tokenEnd(token: CST.Token): number {
  return token.offset + ('source' in token ? token.source.length : 0)
}

function endOf(tokens: readonly Token[]): number | undefined {
  const last = tokens.findLast(begins)
  return last === undefined ? undefined : tokenEnd(last)
}
