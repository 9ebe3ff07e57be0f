// A person at a terminal: a pseudo-terminal of its own, what is typed there and what it shows.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, onTestFinished } from 'vitest'
import type { Sandbox } from './cli.ts'
import { until } from './hub.ts'

export interface Terminal {
  /** Everything on the terminal so far. */
  text(): string
  type(keys: string): void
  /** Waits for something behind what was waited for last. */
  shows(what: string | RegExp): Promise<string>
  readonly ended: Promise<number | null>
}

/** Runs a line of shell on a terminal of its own; it ends with the test. */
export function terminal(sandbox: Sandbox, line: string, env: Record<string, string> = {}): Terminal {
  const child = spawn('script', ['-qefc', `stty cols 100 rows 30; ${line}`, '/dev/null'], {
    cwd: sandbox.project,
    env: sandbox.env(env),
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let text = ''
  let read = 0
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (text += data))
  const ended = once(child, 'close').then(([code]) => code as number | null)
  onTestFinished(async () => {
    child.kill('SIGTERM')
    await ended
  })
  return {
    text: () => text,
    type: (keys) => void child.stdin.write(keys),
    shows: async (what) => {
      const pattern = typeof what === 'string' ? new RegExp(escaped(what)) : what
      const found = await until(() => pattern.exec(text.slice(read))).catch(() =>
        expect.unreachable(`${pattern} was not shown in ${JSON.stringify(text.slice(read))}`),
      )
      read += found.index + found[0].length
      return found[0]
    },
    ended,
  }
}

// --- internal ---

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}
