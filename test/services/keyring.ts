// A keyring as on a desktop: a session bus and the daemon of GNOME, in a home of their own.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { onTestFinished, vi } from 'vitest'

export interface Keyring {
  /** What a program needs to find it. */
  readonly env: Readonly<Record<string, string>>
  /** Ends the daemon, as when a person signs out; the bus stays. */
  stop(): Promise<void>
  /** Starts it again, unlocked; what it kept is in the home. */
  start(): Promise<void>
}

/** Both end with the test. Where the programs are missing, this fails: `npm test` installs them. */
export async function startKeyring(home: string): Promise<Keyring> {
  const runtime = join(home, 'runtime')
  mkdirSync(runtime, { mode: 0o700 })
  const own = { PATH: process.env['PATH'] ?? '', HOME: home, XDG_RUNTIME_DIR: runtime }
  const bus = started('dbus-daemon', ['--session', '--nofork', '--print-address'], own)
  const env = { XDG_RUNTIME_DIR: runtime, DBUS_SESSION_BUS_ADDRESS: await firstLine(bus) }
  let daemon: ChildProcess | undefined
  const start = async () => {
    const words = ['--foreground', '--unlock', '--components=secrets']
    daemon = started('gnome-keyring-daemon', words, { ...own, ...env })
    daemon.stdin?.end('the password of the session')
    await vi.waitUntil(() => isThere({ ...own, ...env }), { timeout: 20_000, interval: 50 })
  }
  const stop = async () => {
    if (daemon === undefined || daemon.exitCode !== null || daemon.signalCode !== null) return
    const ended = once(daemon, 'exit')
    daemon.kill('SIGKILL')
    await ended
  }
  await start()
  return { env, start, stop }
}

// --- internal ---

/** Whether the keyring has taken its name on the bus, and its collection is there and unlocked. */
function isThere(env: Record<string, string>): boolean {
  const ask = (destination: string, ...words: string[]) => {
    const all = ['--session', '--print-reply', `--dest=org.freedesktop.${destination}`, ...words]
    const { stdout, error } = spawnSync('dbus-send', all, { env, encoding: 'utf8' })
    if (error) throw error
    return stdout
  }
  const method = 'org.freedesktop.DBus.NameHasOwner'
  const named = ask('DBus', '/org/freedesktop/DBus', method, 'string:org.freedesktop.secrets')
  if (!named.includes('boolean true')) return false
  const property = ['string:org.freedesktop.Secret.Collection', 'string:Locked']
  const place = '/org/freedesktop/secrets/aliases/default'
  return ask('secrets', place, 'org.freedesktop.DBus.Properties.Get', ...property).includes('boolean false')
}

function started(program: string, words: readonly string[], env: Record<string, string>): ChildProcess {
  const child = spawn(program, words, { env, stdio: ['pipe', 'pipe', 'ignore'] })
  const ended = once(child, 'exit').catch(() => undefined)
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return child
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('no stdout')
  const lines = createInterface({ input: child.stdout })
  const failed = once(child, 'exit').then(([code]) => {
    throw new Error(`${child.spawnfile} ended with ${code}`)
  })
  const line = once(lines, 'line').then(([text]) => String(text))
  try {
    return await Promise.race([line, failed])
  } finally {
    failed.catch(() => undefined)
    line.catch(() => undefined)
  }
}
