// What the tests of this folder share: real processes, and conditions waited for instead of times.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, type TestContext } from 'vitest'
import { childEnvironment } from './environment.ts'
import { newMarker } from './marker.ts'
import type { ServerProcess } from './server-process.ts'
import { type StartOptions, startProcess } from './spawn.ts'
import { Snapshot } from './sweep.ts'

/** Asks until there is an answer. */
export async function until<T>(answer: () => T | undefined | false, withinMs = 5000): Promise<T> {
  for (const deadline = Date.now() + withinMs; Date.now() < deadline; await sleep(5)) {
    const given = answer()
    if (given !== undefined && given !== false) return given
  }
  throw new Error(`waited ${withinMs} ms in vain for: ${answer}`)
}

/** The test that owns what is staged; given, not global, because tests here run side by side. */
type Scope = Pick<TestContext, 'onTestFinished'>

/** A folder that is gone after the test. */
export function temporaryFolder({ onTestFinished }: Scope): string {
  const made = mkdtempSync(join(tmpdir(), 'busbar-process-'))
  onTestFinished(() => rmSync(made, { recursive: true, force: true }))
  return made
}

/** The living processes that carry a mark. */
export function marked(marker: string): number[] {
  return new Snapshot().members({ leader: undefined, marker, since: 0 }).map(({ pid }) => pid)
}

export interface Staged {
  readonly server: ServerProcess
  readonly marker: string
  /** The next line it writes to stdout. */
  line(): Promise<string>
}

/** Starts a server; the test fails when anything of it is alive at the end. */
export async function stage(
  scope: Scope,
  command: string,
  args: string[],
  more: Partial<StartOptions> = {},
): Promise<Staged> {
  const marker = newMarker()
  const env = childEnvironment(process.env, more.env ?? {}, marker)
  const server = await startProcess({ cwd: tmpdir(), ...more, command, args, env })
  scope.onTestFinished(async () => {
    await server.close()
    expect(marked(marker)).toEqual([])
  })
  let reader: (() => Promise<string>) | undefined
  const line = () => {
    reader ??= lineReader(server.stdout)
    return reader()
  }
  return { server, marker, line }
}

/** Starts a server written as a script for Node. */
export function stageNode(scope: Scope, script: string, more: Partial<StartOptions> = {}): Promise<Staged> {
  return stage(scope, process.execPath, ['-e', script], more)
}

/** Gives one line of a stream at each call. */
export function lineReader(stream: Readable): () => Promise<string> {
  const lines = createInterface({ input: stream })[Symbol.asyncIterator]()
  return async () => {
    const next = await lines.next()
    if (next.done) throw new Error('the stream ended before the line')
    return next.value
  }
}

/** All that a server writes until it ends. */
export async function allOf({ server }: Staged): Promise<string> {
  return (await server.stdout.toArray()).join('')
}
