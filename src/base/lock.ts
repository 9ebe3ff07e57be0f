// A lock between processes: a file made exclusively, naming its owner. The kernel does not release it when the owner
// dies, so a waiter may take it from an owner that is provably gone.

import { closeSync, linkSync, openSync, readdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Fault } from './fault.ts'

interface LockOptions {
  /** How long to wait for the present owner. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal | undefined
  /** Called once when the wait has become long enough for a person to wonder. */
  readonly onWait?: ((owner: string) => void) | undefined
}

const held = new Set<string>()
let exitHookInstalled = false

/** Runs `work` while no other process (and no other caller here) holds `path`. */
export async function withLock<T>(
  path: string,
  work: () => T | Promise<T>,
  options: LockOptions = {},
): Promise<T> {
  await acquire(path, options)
  try {
    return await work()
  } finally {
    release(path)
  }
}

// --- internal ---

const WONDER_MS = 500

async function acquire(path: string, { timeoutMs = 60_000, signal, onWait }: LockOptions): Promise<void> {
  const start = performance.now()
  let told = false
  for (let attempt = 1; !tryAcquire(path); attempt++) {
    const waited = performance.now() - start
    if (!told && waited > WONDER_MS) {
      told = true
      onWait?.(readOwner(path)?.split(' ')[0] ?? 'unknown')
    }
    if (waited > timeoutMs) {
      const owner = readOwner(path)
      throw new Fault('CONFIG_LOCKED', `${path} is held by process ${owner?.split(' ')[0] ?? 'unknown'}`, {
        hint: `wait for that process to end, or delete ${path} if it is stuck`,
      })
    }
    // Random and growing waits keep fifty waiters from trying in step and from keeping the owner off the processor.
    await sleep(3 + Math.random() * Math.min(100, 10 * attempt), undefined, signal ? { signal } : {})
  }
}

function tryAcquire(path: string): boolean {
  const owner = readOwner(path)
  if (owner === undefined && createExclusive(path, me())) {
    remember(path)
    removeDrafts(path)
    return true
  }
  if (owner !== undefined && isGone(owner, path)) breakLock(path, owner)
  return false
}

/**
 * Takes a dead owner's lock away. Only the holder of the second lock may do that, and it looks again first; without
 * this, two waiters could both see the dead owner and the slower one would delete the faster one's fresh lock.
 */
function breakLock(path: string, owner: string): void {
  const breaker = `${path}.break`
  if (!createExclusive(breaker, me())) {
    const other = readOwner(breaker)
    if (other !== undefined && isGone(other, breaker)) remove(breaker)
    return
  }
  try {
    if (readOwner(path) === owner) remove(path)
  } finally {
    remove(breaker)
  }
}

/** The file appears with its content in one step (a link to a finished file), so no reader ever sees it empty. */
function createExclusive(path: string, content: string): boolean {
  const draft = `${path}.${process.pid}.${Math.random().toString(36).slice(2)}`
  const file = openSync(draft, 'wx', 0o600)
  try {
    writeFileSync(file, content)
  } finally {
    closeSync(file)
  }
  try {
    linkSync(draft, path)
    return true
  } catch (error) {
    if (isCode(error, 'EEXIST')) return false
    throw error
  } finally {
    remove(draft)
  }
}

/** Drafts of waiters that were killed between making one and linking it. */
function removeDrafts(path: string): void {
  const prefix = `${basename(path)}.`
  for (const entry of readdirSync(dirname(path))) {
    const [pid, random] = entry.startsWith(prefix) ? entry.slice(prefix.length).split('.') : []
    if (random !== undefined && isGone(`${pid} `, '')) remove(join(dirname(path), entry))
  }
}

function me(): string {
  return `${process.pid} ${startOf(process.pid) ?? ''}`
}

function readOwner(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined
    throw error
  }
}

/** A process is gone when its number is free, or was given to a process that started at another time. */
function isGone(owner: string, path: string): boolean {
  const [pid, started] = owner.split(' ')
  const number = Number(pid)
  if (!Number.isInteger(number) || number <= 0) return true
  if (number === process.pid) return !held.has(path)
  try {
    process.kill(number, 0)
  } catch (error) {
    // EPERM: it lives and is somebody else's; its start still tells whether it is the owner.
    if (isCode(error, 'ESRCH')) return true
  }
  const now = startOf(number)
  return started !== undefined && started !== '' && now !== undefined && now !== started
}

/** When a process started, in clock ticks since boot (Linux); undefined elsewhere. */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The command name may hold spaces and brackets, so fields are counted from its last bracket.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  } catch {
    return undefined
  }
}

function remember(path: string): void {
  held.add(path)
  if (exitHookInstalled) return
  exitHookInstalled = true
  // Ctrl-C ends in process.exit, which does not run `finally` blocks.
  process.on('exit', () => {
    for (const lock of held) remove(lock)
  })
}

function release(path: string): void {
  held.delete(path)
  remove(path)
}

function remove(path: string): void {
  try {
    unlinkSync(path)
  } catch (error) {
    if (!isCode(error, 'ENOENT')) throw error
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
