// What must stay secret and outlive a restart: what people set, and tokens of servers. One file for all of it, so there
// is one lock and one order of changes; each entry is sealed by itself, by a key that is kept elsewhere.

import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { Fault } from '../base/fault.ts'
import { withLock } from '../base/lock.ts'
import { type Environment, type Places, prepareFolder } from '../base/places.ts'
import { SecretFile } from './file.ts'
import { forgetKey, type Keeping, likelyProtection, makeAnyKey, makeKey, type NewKey } from './master-key.ts'
import { describeOwner } from './owners.ts'
import { keyFile } from './places.ts'
import { Cipher, claimOf, type Entry, entryOf, type Protection, type SealedFile } from './sealed-file.ts'

export type { Protection }

export interface Held {
  readonly value: string
  readonly version: number
}

interface ListedSecret {
  readonly owner: string
  readonly field: string
  readonly version: number
  /** Epoch milliseconds. */
  readonly changed: number
  readonly damaged: boolean
}

export interface Secrets {
  /** Where the key is; before anything is kept, where it will likely be. */
  readonly protection: Protection
  /** The same of what is kept; undefined before anything is. */
  readonly kept: Protection | undefined
  /** The key's file, where it is in one. */
  readonly keyFile: string | undefined
  /** Why the key is not in the keyring, when this process made it elsewhere for want of one. */
  readonly because: string | undefined
  /**
   * What is kept; undefined when there is none. Reads the file again when it changed. Throws SECRET_DAMAGED for a damaged
   * entry, SECRETS_LOCKED when the key is not there or not this file's; `openSecrets` looks for the key again.
   */
  get(owner: string, field: string): Held | undefined
  /**
   * Keeps a value; with `expected` (0: there is none yet) only when nobody was faster. Answers the new version, or
   * undefined when somebody was. On disk when it resolves.
   */
  put(owner: string, field: string, value: string, expected?: number): Promise<number | undefined>
  /** Whether there was one, of that version where one is given. A damaged one goes, too, unless a version is given. */
  remove(owner: string, field: string, expected?: number): Promise<boolean>
  list(): readonly ListedSecret[]
  /** Runs work while no other process and no other caller here does for this owner. */
  exclusively<T>(
    owner: string,
    work: () => Promise<T>,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<T>
  /** Seals everything anew by another key, and takes the old one away; says what could not be done of the latter. */
  protect(kind: Protection, passphrase?: string): Promise<string | undefined>
}

/** The secrets of a state folder, the same object for all who ask. Whatever is wrong with them, using them tells. */
export async function openSecrets(places: Places, env: Environment): Promise<Secrets> {
  const given = ['BUSBAR_PASSPHRASE', 'BUSBAR_PASSPHRASE_FILE', 'DBUS_SESSION_BUS_ADDRESS', 'XDG_RUNTIME_DIR']
  const name = JSON.stringify([places.state, places.config, ...given.map((variable) => env[variable])])
  const opened = open.get(name) ?? new KeptSecrets({ places, env })
  open.set(name, opened)
  await opened.unlock()
  return opened
}

// --- internal ---

/** One for each state folder: finding the key may take a second, and a person's answer. */
const open = new Map<string, KeptSecrets>()

/** A renewal may wait for a slow server, and others for it. */
const PATIENCE_MS = 300_000

class KeptSecrets implements Secrets {
  readonly #keeping: Keeping
  readonly #file: SecretFile
  because: string | undefined

  constructor(keeping: Keeping) {
    this.#keeping = keeping
    this.#file = new SecretFile(keeping)
  }

  /** Finds the key, if it has not been found yet. What is wrong is told by whoever uses it. */
  async unlock(): Promise<void> {
    await this.#file.unlock().catch((error: unknown) => {
      if (!(error instanceof Fault)) throw error
    })
  }

  get protection(): Protection {
    return this.kept ?? likelyProtection(this.#keeping)
  }

  get kept(): Protection | undefined {
    return this.#file.read()?.head.key
  }

  get keyFile(): string | undefined {
    const head = this.#file.read()?.head
    return head?.key === 'key-file' ? keyFile(this.#keeping.places, head.id) : undefined
  }

  get(owner: string, field: string): Held | undefined {
    const opened = this.#file.open()
    if (opened === undefined) return undefined
    const found = held(opened.sealed, opened.cipher, owner, field)
    return found && { value: found.value, version: found.entry.version }
  }

  async put(owner: string, field: string, value: string, expected?: number): Promise<number | undefined> {
    for (const text of [owner, field, value])
      if (Buffer.from(text).toString() !== text) throw new Error('half a character cannot be kept')
    return await this.#change(async () => {
      const { sealed, cipher } = (await this.#file.unlock()) ?? (await this.#begin())
      if (expected !== undefined && expected !== versionOf(sealed, cipher, owner, field)) return undefined
      const now = Date.now()
      const version = nextVersion(sealed, now)
      const entry = cipher.seal(sealed.head, value, { owner, field, version, changed: now })
      const entries = [...sealed.entries.filter((it) => !isOf(it, owner, field)), entry]
      this.#file.write({ head: sealed.head, highest: version, entries }, cipher)
      return version
    })
  }

  async remove(owner: string, field: string, expected?: number): Promise<boolean> {
    return await this.#change(async () => {
      const opened = await this.#file.unlock()
      if (opened === undefined) return false
      const { sealed, cipher } = opened
      const entries = sealed.entries.filter((it) => !isOf(it, owner, field))
      if (entries.length === sealed.entries.length) return false
      if (expected !== undefined && expected !== versionOf(sealed, cipher, owner, field)) return false
      const highest = nextVersion(sealed, Date.now())
      this.#file.write({ head: sealed.head, highest, entries }, cipher)
      return true
    })
  }

  list(): readonly ListedSecret[] {
    const opened = this.#file.open()
    if (opened === undefined) return []
    const { sealed, cipher } = opened
    return sealed.entries
      .map((it) => ({ ...claimOf(it), damaged: valueIn(sealed, cipher, it) === undefined }))
      .sort((one, other) => (key(one) < key(other) ? -1 : 1))
  }

  async exclusively<T>(
    owner: string,
    work: () => Promise<T>,
    { signal }: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<T> {
    signal?.throwIfAborted()
    const { state } = this.#keeping.places
    prepareFolder(state)
    // Names of owners hold what file names cannot.
    const name = createHash('sha256').update(owner).digest('hex').slice(0, 16)
    return await withLock(join(state, `secrets-${name}.lock`), work, { signal, timeoutMs: PATIENCE_MS })
  }

  /**
   * The new key is in its place before anything is sealed by it, and the old one stays until the file is replaced, so
   * there is no moment at which a crash would leave a file without its key.
   */
  async protect(kind: Protection, passphrase?: string): Promise<string | undefined> {
    return await this.#change(async () => {
      const before = await this.#file.unlock()
      const made = await makeKey(kind, this.#keeping, passphrase)
      const cipher = new Cipher(made.key)
      const head = cipher.head(made.name.id, made.name.key, made.name.salt)
      if (before === undefined) {
        this.#file.write({ head, highest: 0, entries: [] }, cipher)
        return undefined
      }
      const { sealed } = before
      const damaged = sealed.entries.find((it) => valueIn(sealed, before.cipher, it) === undefined)
      if (damaged !== undefined) {
        // Sealed anew it would look whole, and left as it is it could never be repaired.
        await forgetKey(made.name, this.#keeping)
        throw damagedFault(claimOf(damaged).owner, claimOf(damaged).field)
      }
      const entries = sealed.entries.flatMap((it) => {
        const entry = entryOf(it)
        const value = valueIn(sealed, before.cipher, it)
        return entry && value !== undefined ? [cipher.seal(head, value, entry)] : []
      })
      this.#file.write({ head, highest: sealed.highest, entries }, cipher)
      return await forgetKey(sealed.head, this.#keeping)
    })
  }

  // --- internal ---

  async #begin(): Promise<{ sealed: SealedFile; cipher: Cipher }> {
    const { key, name, because }: NewKey = await makeAnyKey(this.#keeping)
    this.because = because
    const cipher = new Cipher(key)
    return { sealed: { head: cipher.head(name.id, name.key, name.salt), highest: 0, entries: [] }, cipher }
  }

  async #change<T>(work: () => Promise<T>): Promise<T> {
    prepareFolder(this.#keeping.places.state)
    return await withLock(`${this.#file.path}.lock`, work)
  }
}

/** The entry that can be opened: a damaged one may claim the name of a whole one. */
function held(
  sealed: SealedFile,
  cipher: Cipher,
  owner: string,
  field: string,
): { entry: Entry; value: string } | undefined {
  const claims = sealed.entries.filter((it) => isOf(it, owner, field))
  for (const claim of claims) {
    const entry = entryOf(claim)
    const value = valueIn(sealed, cipher, claim)
    if (entry && value !== undefined) return { entry, value }
  }
  if (claims.length === 0) return undefined
  throw damagedFault(owner, field)
}

function valueIn({ head }: SealedFile, cipher: Cipher, claim: unknown): string | undefined {
  const entry = entryOf(claim)
  return entry && cipher.open(head, entry)
}

function versionOf(sealed: SealedFile, cipher: Cipher, owner: string, field: string): number {
  return held(sealed, cipher, owner, field)?.entry.version ?? 0
}

/**
 * Above all that were ever given, also those of entries that are gone. The clock stands in for what the file has
 * forgotten, be it by damage or because an old copy was put back, so a stale holder's version never comes again.
 */
function nextVersion({ highest, entries }: SealedFile, now: number): number {
  return Math.max(now, highest + 1, ...entries.map((it) => claimOf(it).version + 1))
}

function isOf(claim: unknown, owner: string, field: string): boolean {
  const claimed = claimOf(claim)
  return claimed.owner === owner && claimed.field === field
}

function key({ owner, field }: { owner: string; field: string }): string {
  return `${owner}\0${field}`
}

function damagedFault(owner: string, field: string): Fault {
  const { text, server, again } = describeOwner(owner, field)
  return new Fault('SECRET_DAMAGED', `${text} was damaged or changed by somebody else`, {
    hint: `give it again: ${again}`,
    server,
  })
}
