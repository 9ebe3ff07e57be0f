// Makes a plain JavaScript file of the owner that tests start as a process of its own.

import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rolldown } from 'rolldown'
import { onTestFinished } from 'vitest'
import { lineReader, marked } from './staging.ts'
import type { OwnerTask } from './staging-owner.ts'

export interface BuiltOwner {
  /** Starts an owner with `home` as its BUSBAR_HOME and waits until its server is in place. */
  run(home: string, task: OwnerTask, extraFile?: number): Promise<RunningOwner>
  remove(): void
}

interface RunningOwner {
  readonly pid: number
  readonly marker: string
  /** What its server wrote. */
  readonly said: string
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
  kill(): Promise<unknown>
}

export async function buildOwner(): Promise<BuiltOwner> {
  const folder = mkdtempSync(join(tmpdir(), 'busbar-owner-'))
  const file = join(folder, 'owner.mjs')
  const bundle = await rolldown({
    input: join(import.meta.dirname, 'staging-owner.ts'),
    platform: 'node',
    logLevel: 'silent',
  })
  await bundle.write({ file, format: 'esm', codeSplitting: false })
  await bundle.close()
  return {
    run: (home, task, extraFile) => run(file, home, task, extraFile),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

// --- internal ---

async function run(file: string, home: string, task: OwnerTask, extraFile?: number): Promise<RunningOwner> {
  // Number 20 is past those that Node itself keeps from children.
  const extra = extraFile === undefined ? [] : [...Array(17).fill('ignore'), extraFile]
  const child = spawn(process.execPath, [file, JSON.stringify(task)], {
    cwd: home,
    env: { PATH: process.env['PATH'], HOME: home, BUSBAR_HOME: join(home, 'busbar') },
    stdio: ['ignore', 'pipe', 'ignore', ...extra],
  })
  const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) =>
    child.once('exit', (code, signal) => resolve({ code, signal })),
  )
  let marker = ''
  onTestFinished(() => {
    child.kill('SIGKILL')
    for (const pid of marker === '' ? [] : marked(marker)) process.kill(pid, 'SIGKILL')
  })
  if (child.stdout === null) throw new Error('no stdout')
  const words = (await lineReader(child.stdout)()).split(' ')
  marker = words.shift() ?? ''
  const kill = () => {
    child.kill('SIGKILL')
    return ended
  }
  return { pid: child.pid ?? 0, marker, said: words.join(' '), ended, kill }
}
