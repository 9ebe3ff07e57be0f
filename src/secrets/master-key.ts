// The key that opens the file of secrets: made, found again and forgotten, wherever it is kept.

import { randomBytes, scrypt, scryptSync } from 'node:crypto'
import { lstatSync, readFileSync, rmSync } from 'node:fs'
import { promisify } from 'node:util'
import { Fault } from '../base/fault.ts'
import { type Environment, type Places, prepareFolder, unsafeReason } from '../base/places.ts'
import { shellWord } from '../base/shell-word.ts'
import { writeFileAtomic } from '../base/write-file.ts'
import { askKeyring, askKeyringNow, type KeyringAnswer } from './keyring.ts'
import { keyFile, secretsFile } from './places.ts'
import type { Head, Protection } from './sealed-file.ts'

/** Where keys can be. */
export interface Keeping {
  readonly places: Places
  readonly env: Environment
}

/** Enough of a head to find its key. */
export type KeyName = Pick<Head, 'id' | 'key' | 'salt'>

export interface NewKey {
  readonly key: Buffer
  readonly name: KeyName
  /** Why it is not in the keyring, where that was tried first. */
  readonly because?: string
}

/** The last way out, when a file cannot be opened any more. */
export function startAnew(places: Places): string {
  const file = shellWord(secretsFile(places))
  return `to begin anew without what it holds: mv ${file} ${file}.old`
}

/** The passphrase that the environment gives; undefined where it gives none. */
export function passphraseOf(env: Environment): string | undefined {
  const given = env['BUSBAR_PASSPHRASE']
  if (given) return given
  const file = env['BUSBAR_PASSPHRASE_FILE']
  if (!file) return undefined
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw new Fault('SECRETS_LOCKED', `${file}, which BUSBAR_PASSPHRASE_FILE names, cannot be read`, {
      hint: 'name a file that this user may read',
      cause: error,
    })
  }
  // Editors end files with a line's end that nobody typed.
  const passphrase = text.replace(/\r?\n$/, '')
  if (passphrase !== '') return passphrase
  throw new Fault('SECRETS_LOCKED', `${file}, which BUSBAR_PASSPHRASE_FILE names, is empty`, {
    hint: 'write the passphrase into it',
  })
}

/** A key for a file that is begun: by the passphrase where there is one, else in the keyring, else in a file. */
export async function makeAnyKey(keeping: Keeping): Promise<NewKey> {
  if (passphraseOf(keeping.env) !== undefined) return await makeKey('passphrase', keeping)
  try {
    return await makeKey('keyring', keeping)
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return { ...(await makeKey('key-file', keeping)), because: error.message }
  }
}

/** A new key of one kind; always under a name of its own, so that making it harms none that is in use. */
export async function makeKey(
  kind: Protection,
  { places, env }: Keeping,
  passphrase = kind === 'passphrase' ? passphraseOf(env) : undefined,
): Promise<NewKey> {
  const id = randomBytes(8).toString('hex')
  if (kind === 'passphrase') {
    const name: KeyName = { id, key: kind, salt: randomBytes(16).toString('base64url') }
    return { key: await derived(name, passphrase), name }
  }
  const key = randomBytes(32)
  const name: KeyName = { id, key: kind, salt: undefined }
  if (kind === 'keyring') {
    const answer = await askKeyring({ action: 'set', account: id, secret: key.toString('hex') }, env)
    if (!answer.ok) throw keyringFault(answer.reason, ELSEWHERE)
    // It must say the same when it is asked again, or nothing could be opened tomorrow.
    if (!keyIn(name, answer, places).equals(key))
      throw keyringFault('it keeps something else than it was given', ELSEWHERE)
  } else {
    prepareFolder(places.config)
    writeFileAtomic(keyFile(places, id), `${key.toString('hex')}\n`, { mode: 0o600 })
  }
  return { key, name }
}

/** The key of a file that is there. Never makes one: what was sealed with a lost key is not opened by another. */
export async function findKey(name: KeyName, keeping: Keeping): Promise<Buffer> {
  const { places, env } = keeping
  if (name.key === 'key-file') return readKeyFile(name, places)
  if (name.key === 'passphrase') return await derived(name, passphraseOf(env))
  return keyIn(name, await askKeyring({ action: 'get', account: name.id }, env), places)
}

/** The same at once, for when the key was moved while we were running. */
export function findKeyNow(name: KeyName, { places, env }: Keeping): Buffer {
  if (name.key === 'key-file') return readKeyFile(name, places)
  if (name.key === 'keyring')
    return keyIn(name, askKeyringNow({ action: 'get', account: name.id }, env), places)
  const [passphrase, salt] = saltedPassphrase(name, passphraseOf(env))
  return scryptSync(passphrase, salt, 32, COST)
}

/** Takes away a key that opens nothing any more. Its loss is nobody's, so trouble with it is only told. */
export async function forgetKey({ id, key }: KeyName, { places, env }: Keeping): Promise<string | undefined> {
  if (key === 'key-file') rmSync(keyFile(places, id), { force: true })
  if (key !== 'keyring') return undefined
  const answer = await askKeyring({ action: 'remove', account: id }, env)
  return answer.ok ? undefined : `the old key stays in the keyring: ${answer.reason}`
}

/** What a new file would be protected by. */
export function likelyProtection({ env }: Keeping): Protection {
  if (passphraseOf(env) !== undefined) return 'passphrase'
  return askKeyringNow({ action: 'get', account: 'probe' }, env).ok ? 'keyring' : 'key-file'
}

// --- internal ---

/** 128 MiB and some hundred milliseconds for each guess. Node refuses more than 32 MiB unless told. */
const COST = { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 2 ** 20 }

const ELSEWHERE = 'unlock it and try again, or keep the key elsewhere: busbar secrets protect file'

async function derived(name: KeyName, given: string | undefined): Promise<Buffer> {
  const [passphrase, salt] = saltedPassphrase(name, given)
  return await promisify<string, Buffer, number, typeof COST, Buffer>(scrypt)(passphrase, salt, 32, COST)
}

function saltedPassphrase({ salt = '' }: KeyName, passphrase: string | undefined): [string, Buffer] {
  // Keyboards and systems write the same letter in two ways.
  if (passphrase !== undefined) return [passphrase.normalize('NFC'), Buffer.from(salt, 'base64url')]
  throw new Fault('SECRETS_LOCKED', 'secrets are protected by a passphrase, and none is given', {
    hint: 'set BUSBAR_PASSPHRASE, or BUSBAR_PASSPHRASE_FILE to a file that holds it',
  })
}

function readKeyFile({ id }: KeyName, places: Places): Buffer {
  const file = keyFile(places, id)
  const stats = lstatSync(file, { throwIfNoEntry: false })
  const readable = stats?.isFile() && (stats.mode & 0o077) !== 0 && process.platform !== 'win32'
  const reason = unsafeReason(file) ?? (readable ? 'can be read by other users' : undefined)
  if (reason !== undefined)
    throw new Fault('SECRETS_LOCKED', `${file} ${reason}`, {
      hint: `make it yours alone: chmod 600 ${shellWord(file)}`,
    })
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw new Fault('SECRETS_LOCKED', `the key of your secrets is gone: ${file} cannot be read`, {
      hint: `put it back from a copy; ${startAnew(places)}`,
      cause: error,
    })
  }
  return decoded(text.trim(), file)
}

function keyIn({ id }: KeyName, answer: KeyringAnswer, places: Places): Buffer {
  if (!answer.ok) throw keyringFault(answer.reason, `unlock it and try again; ${startAnew(places)}`)
  if (answer.secret !== undefined) return decoded(answer.secret, 'the item of the keyring')
  throw new Fault('SECRETS_LOCKED', `the keyring holds no key of your secrets (service busbar, ${id})`, {
    hint: `use the keyring they were kept with; ${startAnew(places)}`,
  })
}

function keyringFault(reason: string, hint: string): Fault {
  return new Fault('SECRETS_LOCKED', `the keyring of this system cannot be used: ${reason}`, { hint })
}

function decoded(text: string, place: string): Buffer {
  if (/^[0-9a-f]{64}$/.test(text)) return Buffer.from(text, 'hex')
  throw new Fault('SECRETS_LOCKED', `${place} holds no key`, { hint: 'put it back from a copy' })
}
