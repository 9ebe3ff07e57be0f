// The operating system's keyring, asked in a process of its own: a question on the session bus may wait for a person for
// ever, and a crash of native code must not take us along. The key travels through pipes only.

import { spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Environment } from '../base/places.ts'
import { isRecord } from '../base/record.ts'

export type KeyringRequest =
  | { readonly action: 'get' | 'remove'; readonly account: string }
  | { readonly action: 'set'; readonly account: string; readonly secret: string }

/** What the keyring holds now (undefined: nothing), or why it cannot be used. */
export type KeyringAnswer =
  | { readonly ok: true; readonly secret: string | undefined }
  | { readonly ok: false; readonly reason: string }

export async function askKeyring(request: KeyringRequest, env: Environment): Promise<KeyringAnswer> {
  const program = find(env)
  if (!program.ok) return program
  return await new Promise((resolve) => {
    const child = spawn(process.execPath, ARGUMENTS, {
      env: environment(env),
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    let said = ''
    const end = (answer: KeyringAnswer) => {
      clearTimeout(timer)
      resolve(answer)
    }
    const timer = setTimeout(() => {
      child.kill('SIGKILL')
      end(STUCK)
    }, LIMIT_MS)
    child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text))
    child.on('error', (error) => end({ ok: false, reason: error.message }))
    child.on('close', () => end(answerOf(said)))
    // It may be gone before it has read; what it said, or did not, is told by its end.
    child.stdin.on('error', () => undefined)
    child.stdin.end(question(request, program.module))
  })
}

/** The same for the one moment in which nobody can wait: the key was moved while we were running. */
export function askKeyringNow(request: KeyringRequest, env: Environment): KeyringAnswer {
  const program = find(env)
  if (!program.ok) return program
  const { stdout, error } = spawnSync(process.execPath, ARGUMENTS, {
    env: environment(env),
    input: question(request, program.module),
    stdio: ['pipe', 'pipe', 'ignore'],
    encoding: 'utf8',
    timeout: LIMIT_MS,
    killSignal: 'SIGKILL',
  })
  return error ? STUCK : answerOf(stdout)
}

// --- internal ---

const SERVICE = 'busbar'

/**
 * Milliseconds until the first answer. Whether there is a keyring at all is known after a second; one that has our key is
 * given more, as on a busy machine it may need it, and without it nothing works. Not so much that everything else waits.
 */
const PATIENCE = { set: 1_000, get: 3_000, remove: 3_000 } as const

/** For what follows an answer: it writes to a disk that may be slow. */
const FURTHER_PATIENCE = 3_000

const NO_ANSWER: KeyringAnswer = { ok: false, reason: 'it did not answer in time' }
const STUCK: KeyringAnswer = { ok: false, reason: 'the process that asks it was stuck' }

/**
 * Starting a process may take its time on a busy machine, so the keyring's time is counted in the child, by a thread
 * of its own: the package connects to the bus while nothing else can run. This bound is for a child that never began.
 */
const LIMIT_MS = 10_000

/**
 * What the child runs. Text, because a file would have to be found from the bundle, from the sources and from whatever
 * bundle a program makes of our library. Only the Secret Service will do on Linux: the kernel's own keyring, to which the
 * package would fall back, forgets everything when the machine is restarted.
 */
const PROGRAM = `
import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'
let text = ''
for await (const part of process.stdin.setEncoding('utf8')) text += part
const { module, patience, action, account, secret } = JSON.parse(text)
const answer = (it) => process.stdout.write(JSON.stringify(it), () => process.kill(process.pid, 'SIGKILL'))
const ask = async () => {
  const { AsyncEntry } = createRequire(module)(module)
  const watch = new Worker(
    "const { parentPort, workerData } = require('node:worker_threads')\\n" +
    "const wait = (time) => setTimeout(() => process.kill(process.pid, 'SIGKILL'), time)\\n" +
    "const first = wait(workerData)\\n" +
    "parentPort.on('message', (time) => { clearTimeout(first); wait(time) })",
    { eval: true, execArgv: [], workerData: patience },
  )
  const entry = new AsyncEntry(${JSON.stringify(SERVICE)}, account, { linux: { store: 'secret-service' } })
  const held = await entry.getPassword()
  if (action === 'get') return { ok: true, secret: held }
  watch.postMessage(${FURTHER_PATIENCE})
  if (action === 'set') await entry.setPassword(secret)
  if (action === 'remove') await entry.deletePassword()
  return { ok: true, secret: await entry.getPassword() }
}
ask().then(answer, (error) => answer({ ok: false, reason: error.message }))
`
const ARGUMENTS = ['--input-type=module', '--eval', PROGRAM]

function find(env: Environment): { ok: true; module: string } | { ok: false; reason: string } {
  // Without a session bus there is nobody to ask, and a library might start one.
  const bus = env['DBUS_SESSION_BUS_ADDRESS'] || existsSync(join(env['XDG_RUNTIME_DIR'] || '/nowhere', 'bus'))
  if (process.platform === 'linux' && !bus) return { ok: false, reason: 'there is no session bus' }
  try {
    return { ok: true, module: createRequire(import.meta.url).resolve('@napi-rs/keyring') }
  } catch {
    return { ok: false, reason: 'the package @napi-rs/keyring is not installed' }
  }
}

/** The person's session, without what is ours (a passphrase) or changes how Node starts. */
function environment(env: Environment): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(
    ([name]) => !name.startsWith('BUSBAR_') && !name.startsWith('NODE_'),
  )
  return Object.fromEntries(kept)
}

function question(request: KeyringRequest, module: string): string {
  return JSON.stringify({ ...request, module, patience: PATIENCE[request.action] })
}

function answerOf(text: string): KeyringAnswer {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return NO_ANSWER
  }
  if (!isRecord(value)) return NO_ANSWER
  if (value['ok'] !== true) return { ok: false, reason: String(value['reason']) }
  return { ok: true, secret: typeof value['secret'] === 'string' ? value['secret'] : undefined }
}
