// `terminal`: a command in the workspace, in a process group of its own that ends with the call. It is not confined: it may
// do whatever the person may, so it is off unless the configuration says otherwise, and marked as destructive.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Environment } from '../../base/places.ts'
import { scrubLearned } from '../../base/redact.ts'
import { childEnvironment } from '../../connect/process/environment.ts'
import type { Ledger } from '../../connect/process/ledger.ts'
import { newMarker } from '../../connect/process/marker.ts'
import type { ServerProcess } from '../../connect/process/server-process.ts'
import { startProcess } from '../../connect/process/spawn.ts'
import { startOf } from '../../connect/process/table.ts'
import { ProcessTree } from '../../connect/process/tree.ts'
import type { NativeTool } from '../../registry/native.ts'
import { Clipped } from './clipped.ts'
import type { Workspace } from './workspace.ts'

export interface TerminalOptions {
  /** Of which only names that hold no secrets pass. */
  readonly env: Environment
  /** Finds what a killed Busbar left behind. */
  readonly ledger?: Ledger | undefined
}

export function terminalTool(workspace: Workspace, { env, ledger }: TerminalOptions): NativeTool {
  return {
    name: 'terminal',
    description:
      'Runs a command by sh in the workspace and gives what it wrote and how it ended. It has no input, and everything it ' +
      'started ends with it.',
    inputSchema: {
      type: 'object',
      properties: {
        command: { type: 'string', minLength: 1, maxLength: 100_000, description: 'As for sh -c.' },
        timeout: { type: 'integer', minimum: 1, maximum: 600, description: 'Seconds; default 60.' },
      },
      required: ['command'],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
    // Whatever an agent's calls are trusted with: a command can do anything that its owner can.
    asks: true,
    run: async (args, { signal }) => {
      const { command, timeout = 60 } = args as { command: string; timeout?: number }
      signal.throwIfAborted()
      const marker = newMarker()
      const running = await startProcess({
        command: '/bin/sh',
        // Both outputs in the order they were written in. The command is no word of this line, so nothing in it can end it.
        args: ['-c', 'exec 2>&1; eval "$1"', 'sh', command],
        cwd: workspace.root,
        env: childEnvironment(env, { TERM: 'dumb' }, marker),
        ledger,
      })
      const watch = watchTree(running.pid, marker)
      try {
        return await ended(running, Math.min(timeout, LONGEST) * 1000, signal)
      } finally {
        await watch.end()
      }
    },
  }
}

// --- internal ---

const LONGEST = 600
/** A little longer than it takes to end what a process left running. */
const LINGER = 4000

/** Milliseconds between two looks; the first ones are quick, since most commands are. */
const FIRST_LOOK = 20
const LAST_LOOK = 500
const KILLING = 1000

/**
 * Looks again and again who belongs to a command while it runs. Whoever leaves its group and drops its mark (`env -i setsid`)
 * is found by its parents alone, and those are gone when the command has ended.
 */
function watchTree(pid: number, marker: string): { end(): Promise<void> } {
  const started = startOf(pid)
  // It has ended, and somebody asked for its result already.
  if (started === undefined) return { end: async () => {} }
  const tree = new ProcessTree({ leader: { pid, started }, marker, since: started })
  let timer: NodeJS.Timeout | undefined
  let over = false
  const look = async (pause: number) => {
    await tree.members()
    if (!over) timer = setTimeout(() => begin(Math.min(2 * pause, LAST_LOOK)), pause)
  }
  // After a look that failed the one before is all that is known.
  const begin = (pause: number) => void look(pause).catch(() => undefined)
  begin(FIRST_LOOK)
  return {
    end: async () => {
      over = true
      clearTimeout(timer)
      if ((await tree.members()).length > 0) await tree.kill(KILLING)
    },
  }
}

async function ended(running: ServerProcess, timeout: number, signal: AbortSignal): Promise<object> {
  const output = new Clipped()
  const read = new Promise<void>((resolve) => running.stdout.once('end', resolve))
  running.stdout.on('data', (chunk: Buffer) => output.add(chunk))
  running.stdin.end()
  let late = false
  // Whoever waits for the end of the process is told by `exited`; `close` never rejects.
  const stop = () => void running.close()
  const timer = setTimeout(() => {
    late = true
    stop()
  }, timeout)
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  try {
    const { code, signal: killer } = await running.exited
    // What it wrote last is still in the pipe, which ends when the last who could write has been ended; someone who cannot
    // be ended is not waited for.
    await Promise.race([read, sleep(LINGER, undefined, { ref: false })])
    await running.close()
    signal.throwIfAborted()
    const how = late
      ? `It was ended after ${timeout / 1000} s.`
      : killer === null
        ? `It ended with status ${code}.`
        : `It was ended by ${killer}.`
    const text = output.text(scrubLearned)
    return {
      content: [
        { type: 'text', text: text === '' ? how : `${text}${text.endsWith('\n') ? '' : '\n'}[${how}]` },
      ],
      isError: late || killer !== null,
    }
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
  }
}
