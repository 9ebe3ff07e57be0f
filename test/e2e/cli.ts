// Runs the built command line in a folder and a home of its own.

import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'

export const BINARY = new URL('../../dist/bin.js', import.meta.url).pathname

export interface Result {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  /** stdout as JSON. */
  readonly json: Answer
  /** stderr as one JSON object. */
  readonly error: Answer
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
export type Answer = any

interface RunOptions {
  readonly env?: Record<string, string | undefined>
  readonly cwd?: string
  readonly input?: string | Uint8Array
  /** Runs it as another user; only root can. */
  readonly uid?: number
}

/** A project folder and a home that nobody else uses, removed after the test. */
export class Sandbox {
  readonly root: string
  readonly home: string
  readonly project: string

  constructor() {
    this.root = mkdtempSync(join(tmpdir(), 'busbar-e2e-'))
    this.home = join(this.root, 'home')
    this.project = join(this.root, 'project')
    mkdirSync(this.home)
    mkdirSync(this.project)
    onTestFinished(() => rmSync(this.root, { recursive: true, force: true }))
  }

  path(name: string): string {
    return join(this.project, name)
  }

  /** Writes a file of the project (or an absolute one) and returns its path. */
  write(name: string, text: string, mode = 0o644): string {
    const file = name.startsWith('/') ? name : this.path(name)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text, { mode })
    return file
  }

  read(name: string): string {
    return readFileSync(name.startsWith('/') ? name : this.path(name), 'utf8')
  }

  exists(name: string): boolean {
    return existsSync(name.startsWith('/') ? name : this.path(name))
  }

  env(extra: Record<string, string | undefined> = {}): Record<string, string> {
    const made = { PATH: process.env['PATH'] ?? '', HOME: this.home, ...extra }
    return Object.fromEntries(
      Object.entries(made).filter((it): it is [string, string] => it[1] !== undefined),
    )
  }

  start(args: readonly string[], options: RunOptions = {}): ChildProcess {
    return spawn(process.execPath, [BINARY, ...args], {
      cwd: options.cwd ?? this.project,
      env: this.env(options.env),
      stdio: ['pipe', 'pipe', 'pipe'],
      ...(options.uid === undefined ? {} : { uid: options.uid }),
    })
  }

  async run(args: readonly string[], options: RunOptions = {}): Promise<Result> {
    const child = this.start(args, options)
    child.stdin?.end(options.input ?? '')
    const [stdout, stderr, code] = await Promise.all([
      collect(child.stdout),
      collect(child.stderr),
      new Promise<number | null>((resolve) => child.on('close', resolve)),
    ])
    return {
      code,
      stdout,
      stderr,
      get json() {
        return JSON.parse(stdout)
      },
      get error() {
        return JSON.parse(stderr)
      },
    }
  }
}

async function collect(stream: NodeJS.ReadableStream | null): Promise<string> {
  let text = ''
  for await (const chunk of stream ?? []) text += chunk
  return text
}
