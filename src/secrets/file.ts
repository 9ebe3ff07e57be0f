// The file of secrets on disk, and the key that opens it: read again when it changed, opened when the key is found.

import { existsSync, readFileSync, statSync } from 'node:fs'
import { Fault } from '../base/fault.ts'
import { unsafeReason, WRITABLE } from '../base/places.ts'
import { writeFileAtomic } from '../base/write-file.ts'
import { findKey, findKeyNow, type Keeping, startAnew } from './master-key.ts'
import { secretsFile } from './places.ts'
import { Cipher, fileText, type Head, parseFile, type Reading, type SealedFile } from './sealed-file.ts'

export interface Opened {
  readonly sealed: SealedFile
  readonly cipher: Cipher
}

export class SecretFile {
  readonly path: string
  readonly #keeping: Keeping
  #seen: { readonly stamp: string; readonly reading: Reading } | undefined
  /** The key of the head it was found for, or why there is none. */
  #key: { readonly seal: string; readonly cipher: Cipher | Fault } | undefined

  constructor(keeping: Keeping) {
    this.#keeping = keeping
    this.path = secretsFile(keeping.places)
  }

  /** What the file holds, sealed; undefined where there is none. */
  read(): SealedFile | undefined {
    const reason = unsafeReason(this.path)
    if (reason !== undefined)
      throw new Fault('STATE_REFUSED', `${this.path} ${reason}`, {
        hint: existsSync(this.path) ? 'check who wrote it' : WRITABLE,
      })
    const stats = statSync(this.path, { bigint: true, throwIfNoEntry: false })
    if (stats === undefined) return undefined
    const stamp = `${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}`
    // Two changes within a tick of the file system's clock look the same.
    const young = Math.abs(Date.now() - Number(stats.mtimeMs)) < TICK_MS
    if (young || this.#seen?.stamp !== stamp)
      this.#seen = { stamp, reading: parseFile(readFileSync(this.path, 'utf8')) }
    return this.#fileOf(this.#seen.reading)
  }

  /** The file with its key; undefined where there is none. At once: a key that was not found stays so until `unlock`. */
  open(): Opened | undefined {
    for (let attempt = 1; ; attempt++) {
      const sealed = this.read()
      if (sealed === undefined) return undefined
      const { head } = sealed
      if (this.#key?.seal !== head.seal)
        this.#remember(head, () => new Cipher(findKeyNow(head, this.#keeping)))
      if (!this.#movedOn(head, attempt)) return this.#opened(sealed)
    }
  }

  /** The same, looking for the key again if it was not found. */
  async unlock(): Promise<Opened | undefined> {
    for (let attempt = 1; ; attempt++) {
      const sealed = this.read()
      if (sealed === undefined) return undefined
      const { head } = sealed
      const known = this.#key?.seal === head.seal ? this.#key.cipher : undefined
      if (!(known instanceof Cipher) || known.judge(head) !== 'right') {
        const found = await findKey(head, this.#keeping).then(
          (key) => () => new Cipher(key),
          (error: unknown) => () => {
            throw error
          },
        )
        this.#remember(head, found)
      }
      if (!this.#movedOn(head, attempt)) return this.#opened(sealed)
    }
  }

  write(sealed: SealedFile, cipher: Cipher): void {
    writeFileAtomic(this.path, fileText(sealed), { mode: 0o600 })
    this.#key = { seal: sealed.head.seal, cipher }
  }

  // --- internal ---

  /** Whether the file has another key by now, which is why that of this head was not found. */
  #movedOn(head: Head, attempt: number): boolean {
    if (attempt >= ATTEMPTS || !(this.#key?.cipher instanceof Fault)) return false
    return this.read()?.head.seal !== head.seal
  }

  #remember(head: Head, find: () => Cipher): void {
    let cipher: Cipher | Fault
    try {
      cipher = find()
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      cipher = error
    }
    this.#key = { seal: head.seal, cipher }
  }

  #opened(sealed: SealedFile): Opened {
    const cipher = this.#key?.cipher
    if (cipher === undefined || cipher instanceof Fault) throw cipher ?? new Error('no key was looked for')
    const verdict = cipher.judge(sealed.head)
    if (verdict === 'right') return { sealed, cipher }
    const [what, remedy] =
      verdict === 'another-key'
        ? ['was made with another key', REMEDIES[sealed.head.key]]
        : ['was changed by somebody else: its head does not fit its key', 'put it back from a copy']
    throw new Fault('SECRETS_LOCKED', `${this.path} ${what}`, {
      hint: `${remedy}; ${startAnew(this.#keeping.places)}`,
    })
  }

  #fileOf(reading: Reading): SealedFile {
    switch (reading.kind) {
      case 'file':
        return reading.file
      case 'newer':
        throw new Fault('STORE_NEWER', `${this.path} has format ${reading.format}, and this Busbar knows 1`, {
          hint: 'use the newer Busbar again, or put back a copy of the file',
        })
      case 'broken':
        throw new Fault('STATE_REFUSED', `${this.path} is damaged, and was left as it is`, {
          hint: `put it back from a copy; ${startAnew(this.#keeping.places)}`,
        })
    }
  }
}

// --- internal ---

const TICK_MS = 100

/** Nobody moves the key that often while we look for it. */
const ATTEMPTS = 10

const REMEDIES = {
  keyring: 'use the keyring it was made with',
  'key-file': 'put back the key file it was made with',
  passphrase: 'set BUSBAR_PASSPHRASE (or BUSBAR_PASSPHRASE_FILE) to the passphrase it was made with',
} as const
