// The file that secrets are kept in, as data: a head that says which key opens it, and entries that are each sealed by
// themselves, so that a damaged one costs itself only. Pure: no files, no clock.

import { createCipheriv, createDecipheriv, randomBytes, timingSafeEqual } from 'node:crypto'
import { isRecord } from '../base/record.ts'
import { keyFor } from '../base/sealed.ts'

/** Where the key is: with the operating system, in a file outside the state folder, or in somebody's head. */
export type Protection = 'keyring' | 'key-file' | 'passphrase'

/** The only one so far. Everything that is sealed names it, so an older one cannot be passed off as this. */
const FORMAT = 1

export interface Head {
  readonly format: typeof FORMAT
  /** Random; the key is kept under it, so that no two files ever share one. */
  readonly id: string
  readonly key: Protection
  /** Of a passphrase. */
  readonly salt: string | undefined
  /** Made from the key alone: tells another key from a head that was changed. */
  readonly check: string
  readonly seal: string
}

/** An entry as it stands in the file. Everything but `data` can be read by anybody, and is sealed with it. */
export interface Entry {
  readonly owner: string
  readonly field: string
  readonly version: number
  /** When it was kept, epoch milliseconds. */
  readonly changed: number
  readonly nonce: string
  readonly data: string
}

export interface SealedFile {
  readonly head: Head
  /** The highest version ever given, so that none is given twice, not even after a removal. */
  readonly highest: number
  /** As they were read: what nobody understands is kept, and may be repaired by hand. */
  readonly entries: readonly unknown[]
}

export type Reading =
  | { readonly kind: 'file'; readonly file: SealedFile }
  | { readonly kind: 'newer'; readonly format: number }
  | { readonly kind: 'broken' }

export function parseFile(text: string): Reading {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { kind: 'broken' }
  }
  if (!isRecord(value) || !isRecord(value['head']) || !Array.isArray(value['entries']))
    return { kind: 'broken' }
  const { format, id, key, salt, check, seal } = value['head']
  if (typeof format === 'number' && format > FORMAT) return { kind: 'newer', format }
  const right =
    format === FORMAT &&
    isText(id) &&
    /^[0-9a-f]{16}$/.test(id) &&
    isProtection(key) &&
    (key === 'passphrase' ? isText(salt) && bytesOf(salt) !== undefined : salt === undefined) &&
    isText(check) &&
    isText(seal)
  if (!right) return { kind: 'broken' }
  const head: Head = { format, id, key, salt: isText(salt) ? salt : undefined, check, seal }
  const highest = isCount(value['highest']) ? value['highest'] : 0
  return { kind: 'file', file: { head, highest, entries: value['entries'] } }
}

export function fileText({ head, highest, entries }: SealedFile): string {
  return `${JSON.stringify({ head, highest, entries }, null, 1)}\n`
}

/** The entry in a part of the file, or undefined when it is none, whatever it says about itself. */
export function entryOf(value: unknown): Entry | undefined {
  if (!isRecord(value)) return undefined
  const { owner, field, version, changed, nonce, data } = value
  if (!isText(owner) || !isText(field) || !isCount(version) || !isCount(changed)) return undefined
  return isText(nonce) && isText(data) ? { owner, field, version, changed, nonce, data } : undefined
}

/** Whose an entry says it is; empty where even that cannot be read. */
export function claimOf(value: unknown): Pick<Entry, 'owner' | 'field' | 'version' | 'changed'> {
  const { owner, field, version, changed } = isRecord(value) ? value : {}
  return {
    owner: isText(owner) ? owner : '',
    field: isText(field) ? field : '',
    version: isCount(version) ? version : 0,
    changed: isCount(changed) ? changed : 0,
  }
}

/** What a key can do: make and judge heads, seal and open entries. */
export class Cipher {
  readonly #head: Buffer
  readonly #entries: Buffer
  readonly #check: string

  constructor(key: Buffer) {
    // One key for each purpose, so that nothing made for one can be used for another.
    this.#head = keyFor('busbar secrets: head', key)
    this.#entries = keyFor('busbar secrets: entries', key)
    this.#check = keyFor('busbar secrets: check', key).toString('base64url')
  }

  head(id: string, key: Protection, salt?: string): Head {
    const head = { format: FORMAT, id, key, salt, check: this.#check } as const
    return { ...head, seal: this.#sealOf(head) }
  }

  judge(head: Head): 'right' | 'another-key' | 'changed' {
    if (!same(head.check, this.#check)) return 'another-key'
    return same(head.seal, this.#sealOf(head)) ? 'right' : 'changed'
  }

  seal(head: Head, value: string, about: Pick<Entry, 'owner' | 'field' | 'version' | 'changed'>): Entry {
    const nonce = randomBytes(12)
    const cipher = createCipheriv('aes-256-gcm', this.#entries, nonce)
    cipher.setAAD(Buffer.from(aboutText(head, about)))
    const data = Buffer.concat([cipher.update(value, 'utf8'), cipher.final(), cipher.getAuthTag()])
    const { owner, field, version, changed } = about
    return {
      owner,
      field,
      version,
      changed,
      nonce: nonce.toString('base64url'),
      data: data.toString('base64url'),
    }
  }

  /** What was sealed; undefined when a single bit of it, or of what is said about it, is another. */
  open(head: Head, entry: Entry): string | undefined {
    const nonce = bytesOf(entry.nonce)
    const data = bytesOf(entry.data)
    if (nonce?.length !== 12 || data === undefined || data.length < TAG) return undefined
    const decipher = createDecipheriv('aes-256-gcm', this.#entries, nonce, { authTagLength: TAG })
    decipher.setAAD(Buffer.from(aboutText(head, entry)))
    decipher.setAuthTag(data.subarray(-TAG))
    try {
      return Buffer.concat([decipher.update(data.subarray(0, -TAG)), decipher.final()]).toString('utf8')
    } catch {
      return undefined
    }
  }

  // --- internal ---

  #sealOf({ format, id, key, salt, check }: Omit<Head, 'seal'>): string {
    const text = JSON.stringify([format, id, key, salt ?? null, check])
    return keyFor(text, this.#head).toString('base64url')
  }
}

// --- internal ---

const TAG = 16

/** Sealed with the value: of which file, whose, which one, and which of all it ever was. */
function aboutText(
  { format, id }: Head,
  entry: Pick<Entry, 'owner' | 'field' | 'version' | 'changed'>,
): string {
  return JSON.stringify([format, id, entry.owner, entry.field, entry.version, entry.changed])
}

/** Only what is written as we write it: the decoder would skip whatever it does not know. */
function bytesOf(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url')
  return bytes.toString('base64url') === text ? bytes : undefined
}

function same(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)]
  return left.length === right.length && timingSafeEqual(left, right)
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0
}

function isProtection(value: unknown): value is Protection {
  return value === 'keyring' || value === 'key-file' || value === 'passphrase'
}
