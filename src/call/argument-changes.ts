// What is different between the arguments that a person is asked about and those of an earlier call. That they are the
// same is only said where it is known: what was masked, cut or never recorded may differ where nobody sees it.

import { sha256 } from '../base/digest.ts'
import { isRecord } from '../base/record.ts'
import { MASK } from '../base/redact.ts'
import { canonicalArguments } from '../policy/canonical-arguments.ts'

/** Something that differs between two sets of arguments; what is absent on one side is left out. */
interface ArgumentChange {
  /** `labels/0` */
  readonly path: string
  /** A number whose digits data cannot hold is given as text; what was written is told beside it. */
  readonly before?: unknown
  readonly after?: unknown
  /** Both as they were written, to the last digit, where one of the two has such a number. */
  readonly beforeText?: string
  readonly afterText?: string
}

export interface Comparison {
  /** All that shows. None, and nothing unseen: they are the same. */
  readonly changes: readonly ArgumentChange[]
  /** How many there are beyond these. */
  readonly more?: number | undefined
  /** Why there may be others: parts are masked, or the earlier ones were not recorded as they were sent. */
  readonly unseen?: 'masked' | 'unrecorded' | undefined
}

/**
 * Both as JSON text as it is kept: `before` with the bytes that it had when it was sent, `after` with the digest of what it
 * is before anything was masked.
 */
export function compareArguments(
  before: { readonly text: string | undefined; readonly bytes: number },
  after: { readonly text: string; readonly digest: string },
): Comparison {
  const { text = '' } = before
  const [one, other] = [exactly(text), exactly(after.text)]
  // A record of forms only may read like arguments, and is none.
  if (one === undefined || other === undefined || isShape(one)) return { changes: [], unseen: 'unrecorded' }
  const isWhole = Buffer.byteLength(text) === before.bytes && !text.includes(MASK)
  if (isWhole && digestOf(text) === after.digest) return { changes: [] }
  const changes: ArgumentChange[] = []
  compare(one, other, '', changes)
  const hides = !isWhole || digestOf(after.text) !== after.digest
  const more = changes.length - MOST_CHANGES
  return {
    changes: changes.slice(0, MOST_CHANGES),
    ...(more > 0 ? { more } : {}),
    ...(hides ? { unseen: 'masked' } : changes.length === 0 ? { unseen: 'unrecorded' } : {}),
  }
}

// --- internal ---

const MOST_CHANGES = 100

/** Stand before every text and the digits of every number, so that neither is ever taken for the other. */
const [TEXT, NUMBER] = ['t', 'n']

/** JSON as data in which every digit is kept; undefined when it is no object, or was cut. */
function exactly(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text.replace(TOKEN, marked))
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** A text with the colon behind it is a key. */
const TOKEN = /"(?:[^"\\]|\\.)*"(\s*:)?|-?\d[\d.eE+-]*/g

function marked(token: string, colon: string | undefined): string {
  if (colon !== undefined) return token
  return token.startsWith('"') ? `"${TEXT}${token.slice(1)}` : `"${NUMBER}${token}"`
}

function digestOf(text: string): string | undefined {
  try {
    return sha256(canonicalArguments(Buffer.from(text)))
  } catch {
    return undefined
  }
}

/** Whether every value is the name of a form, as `record: shape` writes them. */
function isShape(value: unknown): boolean {
  const leaves: unknown[] = []
  collect(value, leaves)
  return leaves.length > 0 && leaves.every((leaf) => isText(leaf) && FORM.test(leaf.slice(TEXT.length)))
}

const FORM = /^(?:(?:string|list|object)\(\d+\)|number|boolean|null|…\d+)$/

function collect(value: unknown, leaves: unknown[]): void {
  if (typeof value !== 'object' || value === null) leaves.push(value)
  else for (const item of Object.values(value)) collect(item, leaves)
}

function compare(before: unknown, after: unknown, path: string, changes: ArgumentChange[]): void {
  if (before === after) return
  const isBoth = (test: (value: unknown) => boolean) => test(before) && test(after)
  if (!isBoth(isRecord) && !isBoth(Array.isArray)) {
    changes.push(changeOf(path, { before, after }))
    return
  }
  const [one, other] = [before, after] as [Record<string, unknown>, Record<string, unknown>]
  for (const key of new Set([...Object.keys(one), ...Object.keys(other)])) {
    const inside = path === '' ? key : `${path}/${key}`
    if (!Object.hasOwn(one, key)) changes.push(changeOf(inside, { after: other[key] }))
    else if (!Object.hasOwn(other, key)) changes.push(changeOf(inside, { before: one[key] }))
    else compare(one[key], other[key], inside, changes)
  }
}

function changeOf(
  path: string,
  sides: { readonly before?: unknown; readonly after?: unknown },
): ArgumentChange {
  const all = Object.entries(sides)
  const data = all.map(([side, value]) => [side, shown(value)])
  // Programs would read a number and a text of its digits alike.
  const texts = all.some(([, value]) => isLong(value))
    ? all.map(([side, value]) => [`${side}Text`, written(value)])
    : []
  return { path, ...Object.fromEntries([...data, ...texts]) }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.startsWith(TEXT)
}

/** Whether there is a number in it whose digits data cannot hold. */
function isLong(value: unknown): boolean {
  if (typeof value === 'string') return !isText(value) && typeof shown(value) === 'string'
  return typeof value === 'object' && value !== null && Object.values(value).some(isLong)
}

function shown(value: unknown): unknown {
  if (isText(value)) return value.slice(TEXT.length)
  if (typeof value === 'string') {
    const digits = value.slice(NUMBER.length)
    return String(Number(digits)) === digits ? Number(digits) : digits
  }
  if (Array.isArray(value)) return value.map(shown)
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shown(item)]))
}

/** As JSON with the digits that were sent. */
function written(value: unknown): string {
  if (isText(value)) return JSON.stringify(value.slice(TEXT.length))
  if (typeof value === 'string') return value.slice(NUMBER.length)
  if (Array.isArray(value)) return `[${value.map(written).join(',')}]`
  if (!isRecord(value)) return JSON.stringify(value)
  const members = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}:${written(item)}`)
  return `{${members.join(',')}}`
}
