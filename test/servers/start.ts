// Starting the test servers from vitest tests.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

export interface ServerOptions {
  transport?: 'stdio' | 'http' | 'websocket' | 'sse'
  era?: 'both' | 'legacy' | 'modern'
  name?: string
  /** A variant of the mode; README.md lists them. */
  case?: string
  /** Milliseconds, for the modes that wait. */
  delay?: number
  /** The only legacy version to accept. */
  protocol?: string
  /** Answers as event streams instead of JSON bodies. */
  sse?: boolean
  port?: number
  /** Milliseconds after which a server that no signal ends gives up by itself. */
  lifetime?: number
}

export interface StartOptions extends ServerOptions {
  env?: Record<string, string>
}

export interface RunningServer {
  url: string
  pid: number
  /** Kills the server with its group; idempotent. Runs by itself after the test. */
  stop(): Promise<void>
}

/** The command for a config entry. `sdk1` and `sdk2` are the reference servers on the official SDKs. */
export function serverCommand(
  mode: string,
  options: ServerOptions = {},
): { command: string; args: string[] } {
  const reference = mode === 'sdk1' || mode === 'sdk2'
  const file = fileURLToPath(new URL(reference ? `${mode}.mjs` : 'server.mjs', import.meta.url))
  const args = [file, ...(reference ? [] : ['--mode', mode])]
  for (const [name, value] of Object.entries(options)) {
    if (value === true) args.push(`--${name}`)
    else if (value !== undefined && value !== false) args.push(`--${name}`, String(value))
  }
  return { command: process.execPath, args }
}

/** Starts a listening server and ends it, with its whole process group, when the test is over. */
export async function startServer(mode: string, options: StartOptions = {}): Promise<RunningServer> {
  const { env, ...rest } = options
  const { command, args } = serverCommand(mode, { transport: 'http', ...rest })
  const child = spawn(command, args, {
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  })
  const stop = () => stopGroup(child)
  onTestFinished(stop)
  const url = await firstUrl(child, mode)
  return { url, pid: child.pid ?? 0, stop }
}

/** How many server processes wrote to the file named by SPAWN_LOG. */
export function spawnCount(logFile: string): number {
  try {
    return readFileSync(logFile, 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('START ')).length
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return 0
    throw error
  }
}

// --- internal ---

function firstUrl(child: ChildProcess, mode: string): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', () => reject(new Error(`server ${mode} ended before it listened`)))
    if (!child.stdout) return reject(new Error('the server has no stdout'))
    createInterface({ input: child.stdout }).once('line', (line) => {
      const { url }: { url: string } = JSON.parse(line)
      resolve(url)
    })
  })
}

async function stopGroup(child: ChildProcess): Promise<void> {
  if (child.pid === undefined) return
  const running = child.exitCode === null && child.signalCode === null
  const ended = running ? once(child, 'exit') : undefined
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch (error) {
    // Nothing is left of the group.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
  await ended
}
