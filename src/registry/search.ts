// Finding tools by words: BM25 over weighted fields, with no model and nothing sent anywhere.

import { nearest } from '../base/suggest.ts'
import { otherWords } from './search-synonyms.ts'
import { isEmptyWord, wordsOf } from './words.ts'

export interface SearchDocument {
  readonly id: string
  readonly server: string
  readonly name: string
  readonly title?: string
  readonly description?: string
  /** The names of its arguments. */
  readonly parameters?: readonly string[]
}

export interface Found {
  readonly id: string
  readonly score: number
}

/** An index of tools. It does not change; another list of tools is another index. */
export class ToolSearch {
  readonly #ids: string[] = []
  readonly #postings = new Map<string, Posting>()
  /** All words in order, for those that begin alike. */
  readonly #words: readonly string[]
  /** Tools by their whole names, alone and with their server's: whoever knows one means that. */
  readonly #names = new Map<string, number[]>()

  constructor(documents: Iterable<SearchDocument>) {
    for (const document of documents) {
      const index = this.#ids.push(document.id) - 1
      for (const name of [document.name, `${document.server} ${document.name}`]) {
        const whole = wholeName(name)
        this.#names.set(whole, [...(this.#names.get(whole) ?? []), index])
      }
      for (const [word, weight] of weigh(document)) {
        const posting = this.#postings.get(word)
        if (posting === undefined) this.#postings.set(word, { documents: [index], scores: [weight] })
        else {
          posting.documents.push(index)
          posting.scores.push(weight)
        }
      }
    }
    for (const posting of this.#postings.values()) finish(posting, this.#ids.length)
    this.#words = [...this.#postings.keys()].sort()
  }

  /** The best tools for a query, best first; equal ones in the order of their ids. */
  search(query: string, limit = 10): Found[] {
    const wanted = this.#expand(query)
    const scores = new Float64Array(this.#ids.length)
    const met = new Uint8Array(this.#ids.length)
    for (const terms of wanted) this.#score(terms, scores, met)
    const named = this.#names.get(wholeName(query.slice(0, MAX_QUERY)).replace(/^mcp_/, '')) ?? []
    for (const index of named) {
      scores[index] = (scores[index] ?? 0) + NAMED
      met[index] = wanted.length
    }
    const best: Found[] = []
    for (let index = 0; index < scores.length; index++) {
      const sum = scores[index] ?? 0
      if (sum === 0) continue
      const id = this.#ids[index] ?? ''
      // One tool for all words is better than one that has a single word often.
      const part = wanted.length === 0 ? 1 : (met[index] ?? 0) / wanted.length
      const score = sum * (ALONE + (1 - ALONE) * part)
      insert(best, { id, score }, limit)
    }
    return best
  }

  /** For each word of the query, the words of the index that stand for it and how well. */
  #expand(query: string): Map<string, number>[] {
    const all = [...new Set(wordsOf(query.slice(0, MAX_QUERY)))]
    const telling = all.filter((word) => !isEmptyWord(word))
    const words = (telling.length > 0 ? telling : all).slice(0, MAX_WORDS)
    const joined = this.#joined(query.slice(0, MAX_QUERY))
    // A word that is still being typed has no space behind it.
    const typing = /[\p{L}\p{N}]$/u.test(query) ? words.at(-1) : undefined
    return words.map((word) => {
      const terms = new Map<string, number>()
      if (word === typing) for (const longer of this.#beginning(word)) terms.set(longer, PREFIX)
      for (const whole of joined.get(word) ?? []) terms.set(whole, JOINED)
      for (const other of otherWords(word)) if (this.#postings.has(other)) terms.set(other, SYNONYM)
      if (this.#postings.has(word)) terms.set(word, 1)
      const meant = terms.size === 0 ? this.#mistyped(word) : undefined
      if (meant !== undefined) terms.set(meant, TYPO)
      return terms
    })
  }

  /** Adds the best of these words to each tool that has any of them. */
  #score(terms: ReadonlyMap<string, number>, scores: Float64Array, met: Uint8Array): void {
    const gains = new Float64Array(scores.length)
    for (const [term, weight] of terms) {
      const posting = this.#postings.get(term)
      if (posting === undefined) continue
      // By index here and below: an iterator would make a pair for each of thousands.
      for (let at = 0; at < posting.documents.length; at++) {
        const index = posting.documents[at] ?? 0
        const gain = weight * (posting.scores[at] ?? 0)
        if (gain > (gains[index] ?? 0)) gains[index] = gain
      }
    }
    for (let index = 0; index < gains.length; index++) {
      const gain = gains[index] ?? 0
      if (gain === 0) continue
      scores[index] = (scores[index] ?? 0) + gain
      met[index] = (met[index] ?? 0) + 1
    }
  }

  /** Words of the index that are two of the query written as one, by either of the two: roll back is rollback. */
  #joined(query: string): Map<string, string[]> {
    const joined = new Map<string, string[]>()
    const runs = query.match(/[\p{L}\p{N}]+/gu) ?? []
    for (const [at, run] of runs.entries()) {
      const next = runs[at + 1]
      if (next === undefined) break
      const [whole = ''] = wordsOf(`${run}${next}`.toLowerCase())
      if (!this.#postings.has(whole)) continue
      for (const word of wordsOf(`${run} ${next}`)) joined.set(word, [...(joined.get(word) ?? []), whole])
    }
    return joined
  }

  #beginning(start: string): string[] {
    if (start.length < 2) return []
    let low = 0
    let high = this.#words.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#words[middle] ?? '') < start) low = middle + 1
      else high = middle
    }
    const found: string[] = []
    for (const word of this.#words.slice(low, low + MAX_PREFIXED)) {
      if (!word.startsWith(start)) break
      found.push(word)
    }
    return found
  }

  /** People rarely miss the first letter, which leaves few words to compare. */
  #mistyped(word: string): string | undefined {
    if (word.length < 4) return undefined
    const [first = ''] = word
    return nearest(
      word,
      this.#words.filter((known) => known.startsWith(first) && Math.abs(known.length - word.length) < 3),
      // Two in a short word make another word of it: everyone, everything.
      word.length < 9 ? 1 : 2,
    )
  }
}

// --- internal ---

/** More than any words are worth. */
const NAMED = 1000

function wholeName(name: string): string {
  return name
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '_')
}

interface Posting {
  readonly documents: number[]
  readonly scores: number[]
}

// The two constants of BM25: how soon repeating a word stops counting, and how much a long text is held against it.
const SATURATION = 3
const LENGTH = 0.7
/** How much rarity counts. In full, a rare word that a text has by chance would outweigh two common ones that are meant. */
const RARITY = 0.85
const NAME = 6
const TITLE = 4
const SERVER = 3
const DESCRIPTION = 2
const PARAMETER = 0.4
/** As many words as a name and a description may have before they count as long. */
const SHORT_NAME = 2
const SHORT_TEXT = 10
/** What is left to a tool that has one of very many words. */
const ALONE = 0.2
const PREFIX = 0.6
const SYNONYM = 0.5
const JOINED = 0.5
const TYPO = 0.7
const MAX_QUERY = 1000
const MAX_WORDS = 32
const MAX_PREFIXED = 64
/** Of a description; what stands further on is hardly what a tool is for. */
const MAX_TEXT = 4000

/** How often each word stands in a tool, by the weight of where it stands. In a longer field each counts for less. */
function weigh(document: SearchDocument): Map<string, number> {
  const words = new Map<string, number>()
  const field = (text: string | undefined, weight: number, short: number): void => {
    if (text === undefined) return
    const found = wordsOf(text.slice(0, MAX_TEXT))
    const each = weight / Math.max(1, 1 - LENGTH + (LENGTH * found.length) / short)
    for (const word of found) words.set(word, (words.get(word) ?? 0) + each)
  }
  field(document.name, NAME, SHORT_NAME)
  field(document.title, TITLE, SHORT_NAME)
  field(document.server, SERVER, Number.POSITIVE_INFINITY)
  field(document.description, DESCRIPTION, SHORT_TEXT)
  for (const parameter of document.parameters ?? []) field(parameter, PARAMETER, Number.POSITIVE_INFINITY)
  return words
}

/** Weights into scores, now that it is known how rare the word is. */
function finish({ documents, scores }: Posting, total: number): void {
  const rarity = Math.log(1 + (total - documents.length + 0.5) / (documents.length + 0.5)) ** RARITY
  for (const [at, weight] of scores.entries())
    scores[at] = (rarity * (weight * (SATURATION + 1))) / (weight + SATURATION)
}

/** Keeps the best so far in order. */
function insert(best: Found[], found: Found, limit: number): void {
  const last = best.at(-1)
  if (limit < 1 || (best.length >= limit && last !== undefined && !isBefore(found, last))) return
  let at = best.length
  for (let before = best[at - 1]; before !== undefined && isBefore(found, before); before = best[at - 1]) at--
  best.splice(at, 0, found)
  if (best.length > limit) best.pop()
}

function isBefore(a: Found, b: Found): boolean {
  return a.score === b.score ? a.id < b.id : a.score > b.score
}
