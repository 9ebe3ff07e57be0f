// Processes that record calls are killed at any moment, again and again; no call is lost, doubled or made up.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { Recorder } from '../../src/record/recorder.ts'
import { openStore } from '../../src/store/open.ts'
import { allRows, killMany, placesIn } from './killed.ts'

const CRASHES = Number(process.env['BUSBAR_CRASHES'] ?? 300)

const BEGUN = /b ([0-9a-f-]{36})\n/g
const ENDED = /e ([0-9a-f-]{36}) ([a-z]+)\n/g

test(`[D16] ${CRASHES} processes killed while they record lose no call and double none`, {
  timeout: 60_000 + CRASHES * 2000,
}, async () => {
  const root = mkdtempSync(join(tmpdir(), 'busbar-crash-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const lanes = await killMany(root, 'record-child.ts', CRASHES)

  const trouble: string[] = []
  const onTrouble = (message: string) => trouble.push(message)
  const { file, journals, key } = placesIn(root)
  const store = await openStore({ file, sealKey: key, onTrouble })
  onTestFinished(() => store.close())
  const recorder = await Recorder.open({ store, folder: journals, onTrouble })
  await recorder.close()
  expect(trouble).toEqual([])
  expect(readdirSync(journals)).toEqual([])

  // A kill may cut a line of what was said; what the next one says then follows in the same line.
  const said = lanes.map((path) => readFileSync(path, 'utf8')).join('\n')
  const begun = [...said.matchAll(BEGUN)].map(([, id]) => id)
  const ended = [...said.matchAll(ENDED)]
  expect(said.split('\n').filter((line) => line.startsWith('t '))).toEqual([])

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
