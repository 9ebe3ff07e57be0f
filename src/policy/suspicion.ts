// What should make a person look twice at a tool's definition. Flags, no verdicts: an honest description may have one, and
// a bad one may have none.

import { isRecord } from '../base/record.ts'
import { memberPath } from './pin-diff.ts'
import { codeOf, cutMiddle, visible } from './pin-text.ts'
import { hiddenIn, plainText } from './suspicion-hidden.ts'

export interface Suspicion {
  readonly kind: 'invisible' | 'bidi' | 'tags' | 'long' | 'other-tool' | 'orders'
  /** Where and what, harmless to print. */
  readonly detail: string
}

/** Names of other servers' tools; a set is one. */
export interface OtherTools {
  has(name: string): boolean
}

/** Looks through every text of a definition: names, descriptions, values of enums, in schemas of whatever depth. */
export function suspicionsIn(definition: unknown, otherTools: OtherTools): Suspicion[] {
  const found = new Map<Suspicion['kind'], string[]>()
  const flag = (kind: Suspicion['kind'], detail: string) => {
    const details = found.get(kind)
    if (details === undefined) found.set(kind, [detail])
    else if (!details.includes(detail)) details.push(detail)
  }
  for (const { path, text, prose } of textsIn(definition)) {
    const where = visible(path).replaceAll(/[\n\t]/g, ' ')
    for (const { kind, characters, says } of hiddenIn(text)) {
      const codes = [...new Set(characters.map(codeOf))].slice(0, 4).join(', ')
      flag(
        kind,
        `${where}: ${characters.length} × ${codes}${says === '' ? '' : `, which say ${quoted(says)}`}`,
      )
    }
    if (path === 'description' && text.length > LONG) flag('long', `${where}: ${text.length} characters`)
    const plain = plainText(text)
    for (const order of ordersIn(plain)) flag('orders', `${where}: ${quoted(order)}`)
    if (prose) for (const name of namesIn(plain, otherTools)) flag('other-tool', `${where}: ${quoted(name)}`)
  }
  return [...found].flatMap(([kind, details]) => [
    ...details.slice(0, MOST).map((detail) => ({ kind, detail })),
    ...(details.length > MOST ? [{ kind, detail: `and ${details.length - MOST} more places` }] : []),
  ])
}

/** The tools of all servers, to tell those of others from a server's own. */
export class ToolNames {
  /** Those that have a tool, by its name. */
  readonly #servers = new Map<string, Set<string>>()
  /** The same by the name as models may write it. */
  readonly #written = new Map<string, Set<string>>()

  constructor(tools: Iterable<readonly [server: string, names: Iterable<string>]>) {
    for (const [server, names] of tools)
      for (const name of names) {
        add(this.#servers, name, server)
        add(this.#written, written(name), server)
      }
  }

  /**
   * Of every server but this one, by name or with its server, however that is written. A name that it has itself is its
   * own; with the name of another server it is that one's, also where it has a tool that is called just so.
   */
  besides(own: string): OtherTools {
    const has = (name: string): boolean => {
      const servers = this.#servers.get(name)
      return (servers !== undefined && !servers.has(own)) || this.#isAddress(name, own)
    }
    return { has }
  }

  // --- internal ---

  #isAddress(name: string, own: string): boolean {
    const address = name.replace(/^mcp__?/i, '')
    // One character for each, so that places are the same in both.
    const plain = written(address)
    for (let at = 1; at < address.length; at++)
      for (const mark of BETWEEN) {
        if (!address.startsWith(mark, at)) continue
        const server = plain.slice(0, at)
        const servers = this.#written.get(plain.slice(at + mark.length)) ?? []
        // What can be read as a tool of its own is that; where it has none, the name of another may begin like its own.
        if (server === written(own)) {
          if ([...servers].includes(own)) return false
        } else if ([...servers].some((it) => it !== own && written(it) === server)) return true
      }
    return false
  }
}

// --- internal ---

function add(map: Map<string, Set<string>>, name: string, server: string): void {
  const servers = map.get(name)
  if (servers) servers.add(server)
  else map.set(name, new Set([server]))
}

/** As models are shown names: nothing but letters, digits and `_`; and in small letters, as people may write them. */
function written(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '_')
}

/** What stands between a server and its tool, as people and models write them. */
const BETWEEN = ['/', ':', '.', '__', '_'] as const

/** Characters of a description beyond which nobody reads it. */
const LONG = 10_000
/** Flags of one kind for one tool. */
const MOST = 5

/**
 * Orders to a model, as attacks word them. Every gap is bounded, so the time is linear in the text. The tests
 * have honest descriptions, too, and say how many are flagged.
 */
const ORDERS: readonly RegExp[] = [
  /\b(?:ignore|disregard|forget|override)\s+(?:\w+\s+){0,3}(?:previous|prior|above|earlier|other|system)\b/i,
  /\b(?:ignore|disregard|forget|override)\s+(?:\w+\s+){0,3}(?:instructions|prompts?|rules|guidelines)\b/i,
  /\[\s{0,3}(?:system|important|critical|admin|instructions?)\s{0,3}\]/i,
  /\byou are now\b/i,
  /\b(?:do not|don['’]t|never)\s+let\s+(?:\w+\s+){0,3}(?:user|human|person|anyone|them)\s+(?:\w+\s+){0,2}(?:know|see|notice|find)\b/i,
  /\bbefore\s+(?:any|every|all)\s+(?:the\s+)?(?:other\s+)?(?:tool|function)s?\b/i,
  /<\s{0,3}\/?\s{0,3}(?:important|critical|system|instructions?|secret|hidden|admin)\s{0,3}>/i,
  /\b(?:do not|don['’]t|never|without)\s+(?:\w+\s+){0,3}(?:tell|mention|inform|reveal|notify|alert|disclose)\w{0,3}\s+(?:\w+\s+){0,4}(?:user|human|person|anyone|them)\b/i,
  /\bbefore\s+(?:using|calling|invoking|running)\s+(?:this|any|other|another)\s+(?:other\s+)?(?:tool|function)s?\b/i,
  // What somebody must have or give for a call to work is what honest descriptions say.
  /\b(?:you|the model|the assistant)\s+must\b(?!\s+(?:also\s+|first\s+)?(?:provide|specify|have|be|supply|own|enable|install|configure|grant)\b)/i,
  /\b(?:send|post|upload|forward|transmit|submit)\b[^.\n]{0,120}\bto\s+https?:\/\//i,
  /(?:~\/\.ssh\b|\bid_(?:rsa|ed25519)\b|\.aws\/credentials|\.cursor\/mcp\.json|\/etc\/(?:passwd|shadow)\b)/i,
]

function ordersIn(text: string): string[] {
  return ORDERS.flatMap((pattern) => pattern.exec(text)?.[0] ?? [])
}

/** Names that are no ordinary words: with a mark in them (`pay_x`, `files.read`, `resolve-library-id`), or in camel case. */
function namesIn(text: string, otherTools: OtherTools): string[] {
  return (text.match(/[A-Za-z][\w/:.-]{2,127}/g) ?? []).flatMap((run) => {
    // The end of a sentence is no part of a name.
    const word = run.replace(/[/:.-]+$/, '')
    const names = [word, ...word.split(/[/:.]/)]
    const found = names.find((name) => /[\w][_/:.-]|[a-z][A-Z]/.test(name) && otherTools.has(name))
    return found === undefined ? [] : [found]
  })
}

interface Text {
  readonly path: string
  readonly text: string
  /** Whether it is written for a reader, not a name or a value. */
  readonly prose: boolean
}

function* textsIn(definition: unknown): Generator<Text> {
  // Its own stack, and in the order of the text: the last in is the first out.
  const left: Item[] = [{ path: '', value: definition, prose: false }]
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { path, value, prose } = next
    if (typeof value === 'string') yield { path, text: value, prose }
    else if (Array.isArray(value))
      for (const [index, item] of [...value.entries()].reverse())
        left.push({ path: `${path}[${index}]`, value: item, prose })
    else if (isRecord(value))
      for (const [key, item] of Object.entries(value).reverse()) {
        const inner = memberPath(path, key)
        left.push({ path: inner, value: item, prose: PROSE.has(key) })
        if (!KNOWN_KEY.test(key)) left.push({ path: inner, value: key, prose: false })
      }
  }
}

interface Item {
  readonly path: string
  readonly value: unknown
  readonly prose: boolean
}

/** What a model reads as said to it; a default is what it is told to send. */
const PROSE: ReadonlySet<string> = new Set(['description', 'title', 'default', 'examples', '$comment'])

/** Most keys are single words, in which nothing can be said. */
const KNOWN_KEY = /^[\w$-]{0,64}$/

function quoted(text: string): string {
  const line = visible(text).replace(/\s+/g, ' ')
  return `"${cutMiddle(line, 80)}"`
}
