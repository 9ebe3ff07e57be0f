// `busbar secrets`: what must not stand in a file, kept sealed and filled in as ${secret:NAME}.

import { Fault } from '../../base/fault.ts'
import type { Places } from '../../base/places.ts'
import { nearest } from '../../base/suggest.ts'
import { missingVariables } from '../../config/expand.ts'
import { loadConfig } from '../../config/load.ts'
import { secretsIn } from '../../config/missing.ts'
import { SECRET_NAME } from '../../config/secret-reader.ts'
import type { Snapshot } from '../../config/snapshot.ts'
import { settingsScope } from '../../config/status.ts'
import { plain } from '../../config/tree.ts'
import { passphraseOf } from '../../secrets/master-key.ts'
import { describeOwner, PEOPLE } from '../../secrets/owners.ts'
import { secretsFile } from '../../secrets/places.ts'
import { openSecrets, type Protection, type Secrets } from '../../secrets/secrets.ts'
import { acknowledged } from '../acknowledged.ts'
import { command, type Group } from '../command.ts'
import { gatewayRuns } from '../gateway-client.ts'
import { safe } from '../output.ts'
import { readSecret } from '../secret-input.ts'
import { secretUse } from '../secret-use.ts'
import type { Session } from '../session.ts'

const KINDS: Readonly<Record<string, Protection>> = {
  keyring: 'keyring',
  file: 'key-file',
  passphrase: 'passphrase',
}

export const spec: Group = {
  fallback: 'list',
  commands: {
    set: command({
      summary: 'keep a secret, asked for without showing it',
      words: '<name>',
      tooMany: {
        message:
          'a secret is never given as an argument: every program here could see it, and the shell keeps it',
        hint: 'busbar secrets set NAME asks for it; from a file: busbar secrets set NAME < FILE',
      },
      help: `
Asks for the value and keeps it sealed in the state folder; where the key is, busbar secrets list says. Without a terminal
the value is read from standard input, up to its last line's end. Write \${secret:NAME} wherever the configuration could
hold a \${VARIABLE}; a running gateway starts anew what uses it.

Examples:
  busbar secrets set GITHUB_TOKEN
  busbar secrets set TLS_KEY < key.pem
  pass show github | busbar secrets set GITHUB_TOKEN`,
      run: async (session, [name = '']) => await set(session, name),
    }),
    list: command({
      summary: 'names of kept secrets, who uses them, and where their key is',
      help: `
Never shows a value. Also lists what is named by the configuration and not kept, and what signing in to servers has kept.

Examples:
  busbar secrets list
  busbar secrets list --json`,
      run: list,
    }),
    remove: command({
      summary: 'forget a secret',
      words: '<name>',
      help: `
Example:
  busbar secrets remove GITHUB_TOKEN`,
      run: async (session, [name = '']) => await remove(session, name),
    }),
    protect: command({
      summary: 'keep the key of all secrets elsewhere, and seal them anew',
      words: '<keyring|file|passphrase>',
      help: `
keyring      the operating system's, which opens it when you sign in
file         a file beside the configuration that only you can read
passphrase   nowhere: derived from BUSBAR_PASSPHRASE, or from the file that BUSBAR_PASSPHRASE_FILE names. Where neither is
             set, or the present one is to be replaced, the new one is asked for.

Everything is sealed anew by a new key in one step, and the old key is taken away; copies of the file from before that can
not be opened any more.

Examples:
  busbar secrets protect keyring
  busbar secrets protect passphrase`,
      run: async (session, [kind = '']) => await protect(session, kind),
    }),
  },
}

// --- internal ---

async function set(session: Session, name: string): Promise<void> {
  if (!SECRET_NAME.test(name))
    // Not repeated: it may be NAME=value.
    throw new Fault('USAGE', 'that is no name for a secret', {
      hint: 'letters, digits, "_", "-" and ".", such as GITHUB_TOKEN; the value is asked for',
    })
  const { snapshot, secrets } = await open(session)
  // That nothing can be opened is said before anything is asked.
  secrets.list()
  const value = await readSecret(`value of ${name}`, `busbar secrets set ${name} < FILE`)
  await secrets.put(PEOPLE, name, value)
  await acknowledged(session, snapshot.places, { files: [secretsFile(snapshot.places)] })
  const users = secretUse(snapshot).get(name) ?? []
  const gateway = await runs(session, snapshot, users)
  session.out.answer({ set: name, ...keyOf(secrets, snapshot.places), users, gateway }, () => [
    `Kept ${name}. ${keyLine(secrets)}`,
    users.length > 0
      ? `Used by ${safe(users.join(', '))}.`
      : `Write it into the configuration as \${secret:${name}}.`,
    ...(gateway ? ['The running gateway starts anew what uses it.'] : []),
  ])
}

async function list(session: Session): Promise<void> {
  const { snapshot, secrets } = await open(session)
  const use = secretUse(snapshot)
  const kept = secrets.list()
  const rows = kept
    .filter(({ owner }) => owner === PEOPLE)
    .map(({ field, changed, damaged }) => ({ name: field, changed, damaged, users: use.get(field) ?? [] }))
  // What has a default is not missed.
  const lacking = new Set(secretsIn(missingVariables(plain(snapshot.tree), settingsScope(snapshot))))
  const missing = [...use]
    .filter(([name]) => lacking.has(name) && !rows.some((row) => row.name === name))
    .map(([name, users]) => ({ name, users }))
  const others = kept
    .filter(({ owner }) => owner !== PEOPLE)
    .map(({ owner, field, changed, damaged }) => ({ owner, field, changed, damaged }))
  const data = {
    ...keyOf(secrets, snapshot.places),
    secrets: rows.map(timed),
    missing,
    others: others.map(timed),
  }
  session.out.answer(data, () => {
    const state = (damaged: boolean, owner: string, field: string) =>
      damaged ? `damaged: ${describeOwner(owner, field).again}` : 'kept'
    const table = [
      ...rows.map((it) => [
        it.name,
        state(it.damaged, PEOPLE, it.name),
        when(it.changed),
        it.users.join(', '),
      ]),
      ...missing.map((it) => [it.name, `missing: busbar secrets set ${it.name}`, '', it.users.join(', ')]),
      ...others.map((it) => [
        `${it.owner} ${it.field}`,
        state(it.damaged, it.owner, it.field),
        when(it.changed),
        '',
      ]),
    ]
    if (table.length === 0) return ['No secrets yet. Run: busbar secrets set NAME', keyLine(secrets)]
    return [...session.out.table(['NAME', 'STATE', 'CHANGED', 'USED BY'], table), '', keyLine(secrets)]
  })
}

async function remove(session: Session, name: string): Promise<void> {
  const { snapshot, secrets } = await open(session)
  const users = secretUse(snapshot).get(name) ?? []
  if (!(await secrets.remove(PEOPLE, name))) {
    const names = secrets.list().flatMap(({ owner, field }) => (owner === PEOPLE ? [field] : []))
    const near = nearest(name, names)
    throw new Fault('SECRET_UNKNOWN', `no secret is called "${name}"`, {
      hint: near ? `did you mean ${near}?` : 'run: busbar secrets list',
    })
  }
  await acknowledged(session, snapshot.places, { files: [secretsFile(snapshot.places)] })
  const gateway = await runs(session, snapshot, users)
  session.out.answer({ removed: name, users, gateway }, () => [
    `Removed ${name}.`,
    ...(users.length > 0 ? [`It is used by ${safe(users.join(', '))}.`] : []),
    ...(gateway ? ['The running gateway starts anew what uses it, as far as that works without.'] : []),
  ])
}

async function protect(session: Session, word: string): Promise<void> {
  const kind = Object.hasOwn(KINDS, word) ? KINDS[word] : undefined
  if (kind === undefined)
    throw new Fault('USAGE', `"${word}" is no place for a key`, { hint: 'one of: keyring, file, passphrase' })
  const { snapshot, secrets } = await open(session)
  // What cannot be opened cannot be sealed anew, and is said before anything is asked.
  const count = secrets.list().length
  const { env, places } = snapshot
  const given = passphraseOf(env) !== undefined
  const asked = kind === 'passphrase' && (!given || secrets.kept === 'passphrase')
  const passphrase = asked ? await newPassphrase() : undefined
  const left = await secrets.protect(kind, passphrase)
  if (left !== undefined) session.out.warn(left)
  const gateway = await gatewayRuns(places, session.signal)
  session.out.answer({ ...keyOf(secrets, places), sealed: count, gateway }, () => [
    `Sealed anew: ${count}. ${keyLine(secrets)}`,
    ...(asked
      ? ['From now on, set BUSBAR_PASSPHRASE, or BUSBAR_PASSPHRASE_FILE to a file that holds it.']
      : []),
    ...(asked && gateway ? ['Start the gateway anew with it: busbar up'] : []),
  ])
}

/** Twice where it is typed: nobody could open anything with what was mistyped. */
async function newPassphrase(): Promise<string> {
  const hint = 'busbar secrets protect passphrase < FILE'
  const passphrase = await readSecret('new passphrase', hint)
  if (passphrase.length < SHORTEST)
    throw new Fault('USAGE', `a passphrase has at least ${SHORTEST} characters`, {
      hint: 'five words are good',
    })
  if (process.stdin.isTTY && (await readSecret('the same again', hint)) !== passphrase)
    throw new Fault('USAGE', 'the two were not the same; nothing was changed', { hint: 'try again' })
  return passphrase
}

const SHORTEST = 8

/** The configuration only tells who uses what, so what is wrong with it is not said here. */
async function open(session: Session): Promise<{ snapshot: Snapshot; secrets: Secrets }> {
  const snapshot = await loadConfig(session.loadOptions)
  return { snapshot, secrets: await openSecrets(snapshot.places, snapshot.env) }
}

async function runs(session: Session, { places }: Snapshot, users: readonly string[]): Promise<boolean> {
  return users.length > 0 && (await gatewayRuns(places, session.signal))
}

function keyOf(secrets: Secrets, { state }: Places): object {
  const { protection, keyFile, because } = secrets
  return { protection, state, ...(keyFile ? { keyFile } : {}), ...(because ? { because } : {}) }
}

function keyLine(secrets: Secrets): string {
  const { protection, keyFile, because, kept } = secrets
  const will = kept === undefined ? 'will be' : 'is'
  const why = because === undefined ? '' : ` (${safe(because)})`
  switch (protection) {
    case 'keyring':
      return `The key ${will} in the keyring of this system.`
    case 'passphrase':
      return `The key ${will} derived from your passphrase.`
    case 'key-file':
      return `The key ${will} in ${keyFile === undefined ? 'a file: no keyring answers' : safe(keyFile)}${why}.`
  }
}

function timed<T extends { readonly changed: number }>(row: T): object {
  return { ...row, changed: new Date(row.changed).toISOString() }
}

function when(epoch: number): string {
  return new Date(epoch).toISOString().slice(0, 16).replace('T', ' ')
}
