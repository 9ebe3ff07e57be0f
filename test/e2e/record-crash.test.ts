// Processes that record calls are killed at any moment, again and again; no call is lost, doubled or made up.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { Recorder } from '../../src/record/recorder.ts'
import type { RecordedInvocation } from '../../src/store/invocation.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/store.ts'
import { buildChild } from './child.ts'

const CRASHES = Number(process.env['BUSBAR_CRASHES'] ?? 300)
const LANES = 2
const KEY = 'a key outside the folder'

/** Starts a child and kills it: some while they start and recover, some while they record. */
async function crash(root: string, child: string, said: number, settled: boolean): Promise<void> {
  const args = [child, join(root, 'busbar.db'), join(root, 'journals'), KEY]
  const running = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit', said] })
  const ended = once(running, 'exit')
  onTestFinished(() => void running.kill('SIGKILL'))
  if (settled && running.stdout !== null) await Promise.race([once(running.stdout, 'data'), ended])
  await sleep(Math.random() * (settled ? 120 : 300))
  running.kill('SIGKILL')
  // One that ended by itself would have failed.
  expect((await ended)[1]).toBe('SIGKILL')
}

async function allRows(store: Store): Promise<RecordedInvocation[]> {
  const rows: RecordedInvocation[] = []
  for (let before = Number.MAX_SAFE_INTEGER; ; ) {
    const page = await store.invocations.list({ before, limit: 5000 })
    rows.push(...page)
    const last = page.at(-1)
    if (last === undefined) return rows
    before = last.seq
  }
}

test(`[D16] ${CRASHES} processes killed while they record lose no call and double none`, {
  timeout: 60_000 + CRASHES * 2000,
}, async () => {
  const root = mkdtempSync(join(tmpdir(), 'busbar-crash-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const child = await buildChild(root, 'record-child.ts')
  const lanes = Array.from({ length: LANES }, (_, lane) => join(root, `said-${lane}`))
  await Promise.all(
    lanes.map(async (path, lane) => {
      const said = openSync(path, 'a')
      try {
        for (let index = lane; index < CRASHES; index += LANES)
          await crash(root, child, said, index % 3 !== 0)
      } finally {
        closeSync(said)
      }
    }),
  )

  const trouble: string[] = []
  const onTrouble = (message: string) => trouble.push(message)
  const store = await openStore({ file: join(root, 'busbar.db'), sealKey: KEY, onTrouble })
  onTestFinished(() => store.close())
  const recorder = await Recorder.open({ store, folder: join(root, 'journals'), onTrouble })
  await recorder.close()
  expect(trouble).toEqual([])
  expect(readdirSync(join(root, 'journals'))).toEqual([])

  // A kill may cut a line of what was said, though not what it is about.
  const lines = lanes.flatMap((path) => readFileSync(path, 'utf8').split('\n'))
  const words = lines.map((line) => line.split(' '))
  const begun = words.filter(([kind]) => kind === 'b').map(([, id]) => id)
  const ended = words.filter(([kind]) => kind === 'e')
  expect(lines.filter((line) => line.startsWith('t '))).toEqual([])

  const rows = await allRows(store)
  const outcomes = new Map(rows.map(({ id, outcome }) => [id, outcome]))
  expect(outcomes.size).toBe(rows.length)
  expect(begun.filter((id) => id === undefined || !outcomes.has(id))).toEqual([])
  expect(ended.filter(([, id, outcome]) => outcomes.get(id ?? '') !== outcome)).toEqual([])
  // Each killed process may have been between doing and saying so, once for an end and once for a begin.
  const unknown = rows.filter(({ outcome }) => outcome === 'unknown')
  const saidEnded = new Set(ended.map(([, id]) => id))
  const open = begun.filter((id) => !saidEnded.has(id)).length
  expect(Math.abs(open - unknown.length)).toBeLessThanOrEqual(CRASHES)
  expect(rows.length - new Set(begun).size).toBeLessThanOrEqual(CRASHES)
  expect(await store.invocations.verify()).toEqual({ ok: true, rows: rows.length })
  // A run in which nothing was under way would show nothing.
  expect(ended.length).toBeGreaterThan(CRASHES)
  expect(unknown.length).toBeGreaterThan(0)
})
