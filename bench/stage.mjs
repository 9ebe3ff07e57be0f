// Where a run happens: a folder of its own and the processes it started. Nothing of either is left, also after Ctrl-C.
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'

const GRACE = 4_000
/** Who was killed this moment may still be writing. */
const REMOVAL = { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }

export class Stage {
  #folder = mkdtempSync(join(tmpdir(), 'busbar-bench-'))
  #children = new Set()
  #folders = 0

  constructor() {
    for (const [signal, code] of [
      ['SIGINT', 130],
      ['SIGTERM', 143],
    ])
      process.once(signal, () => process.exit(code))
    // However this process ends. In a run that came to its end there is nothing left to do.
    process.once('exit', () => {
      for (const { pid } of this.#children) if (pid !== undefined) end(descendants(pid))
      rmSync(this.#folder, REMOVAL)
    })
  }

  /** A new empty folder. */
  folder() {
    const path = join(this.#folder, String(this.#folders++))
    mkdirSync(path)
    return path
  }

  /** Starts a program in a process group of its own, which a Ctrl-C at the terminal does not reach by itself. */
  start(command, args, { env = {}, stdio = ['ignore', 'pipe', 'pipe'], cwd = this.#folder } = {}) {
    // What a program keeps for its user goes into the folder, too.
    const own = { HOME: this.#folder, XDG_CONFIG_HOME: '', XDG_STATE_HOME: '', XDG_CACHE_HOME: '' }
    const child = spawn(command, args, {
      cwd,
      stdio,
      detached: true,
      env: { ...process.env, ...own, ...env },
    })
    child.said = ''
    child.stderr?.on('data', (chunk) => {
      child.said = (child.said + chunk).slice(-2_000)
    })
    child.once('error', (error) => {
      child.said += error.message
    })
    this.#children.add(child)
    return child
  }

  /** Starts a program that says where it listens in its first line: `{"port":…}` or `{"url":…}`. */
  async listen(command, args, options) {
    const child = this.start(command, args, options)
    const line = await new Promise((resolve, reject) => {
      createInterface({ input: child.stdout }).once('line', resolve)
      child.once('close', (code) => reject(new Error(`${args[0]} ended with ${code}: ${child.said}`)))
    })
    const { port, url } = JSON.parse(line)
    return { child, port: port ?? Number(new URL(url).port) }
  }

  /** Runs a program to its end; what it printed, as data. */
  async ask(command, args, options) {
    const child = this.start(command, args, options)
    let text = ''
    for await (const chunk of child.stdout) text += chunk
    const code = child.exitCode ?? (await new Promise((resolve) => child.once('exit', resolve)))
    this.#children.delete(child)
    if (code !== 0) throw new Error(`${args[0]} ended with ${code}: ${child.said}`)
    return JSON.parse(text)
  }

  /** Ends a program with everything below it, politely first. */
  async stop(child) {
    this.#children.delete(child)
    if (child.pid === undefined) return
    const family = descendants(child.pid)
    if (isRunning(child)) {
      child.kill('SIGTERM')
      const gone = new Promise((resolve) => child.once('exit', resolve))
      await Promise.race([gone, pause(GRACE, undefined, { ref: false })])
    }
    end(family)
  }

  async close() {
    await Promise.all([...this.#children].map((child) => this.stop(child)))
    rmSync(this.#folder, REMOVAL)
  }
}

// --- internal ---

const isRunning = (child) => child.exitCode === null && child.signalCode === null

/** A process and all below it, with the moment of birth of each: a number may be another's by the time it is used. */
function descendants(root) {
  const children = new Map()
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    const parent = Number(fieldsOf(name)?.[1])
    children.set(parent, [...(children.get(parent) ?? []), Number(name)])
  }
  const below = (pid) => [pid, ...(children.get(pid) ?? []).flatMap(below)]
  return below(root).map((pid) => ({ pid, born: bornAt(pid) }))
}

const bornAt = (pid) => fieldsOf(pid)?.[19]

/** What /proc says of a process after its name. */
export function fieldsOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  } catch {
    return undefined
  }
}

function end(family) {
  for (const { pid, born } of family)
    try {
      if (bornAt(pid) === born) process.kill(pid, 'SIGKILL')
    } catch (error) {
      if (error.code !== 'ESRCH') throw error
    }
}
