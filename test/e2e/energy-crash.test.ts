// Processes that spend energy are killed at any moment, again and again; the ledger and the record agree to the millionth.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { Recorder } from '../../src/record/recorder.ts'
import { openStore } from '../../src/store/open.ts'
import { ACCOUNTS } from './energy-accounts.ts'
import { allRows, killMany, placesIn } from './killed.ts'

const CRASHES = Number(process.env['BUSBAR_CRASHES'] ?? 200)

const millionths = (energy: number) => Math.round(energy * 1e6)

test(`[D7][D16] ${CRASHES} processes killed while they spend energy leave a ledger that agrees with the record`, {
  timeout: 60_000 + CRASHES * 2000,
}, async () => {
  const root = mkdtempSync(join(tmpdir(), 'busbar-energy-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const { file, journals, key } = placesIn(root)
  const trouble: string[] = []
  const onTrouble = (message: string) => trouble.push(message)
  const store = await openStore({ file, sealKey: key, onTrouble })
  onTestFinished(() => store.close())
  await store.energy.configure(ACCOUNTS)

  const lanes = await killMany(root, 'energy-child.ts', CRASHES)
  await (await Recorder.open({ store, folder: journals, onTrouble })).close()

  const lines = lanes.flatMap((path) => readFileSync(path, 'utf8').split('\n'))
  expect([...trouble, ...lines.filter((line) => line !== '')]).toEqual([])
  expect(readdirSync(journals)).toEqual([])
  expect(await store.energy.owners()).toEqual([])
  const rows = await allRows(store)
  expect(await store.invocations.verify()).toEqual({ ok: true, rows: rows.length })
  for (const account of await store.energy.accounts()) {
    const own = rows.filter(({ agent }) => agent.split('/')[0] === account.agent)
    const spent = own.reduce((sum, { energy = 0 }) => sum + millionths(energy), 0)
    const reserved = (text = '{}') => millionths(JSON.parse(text).reserved)
    const debts = own.reduce(
      (sum, row) => sum + Math.max(0, millionths(row.energy ?? 0) - reserved(row.arguments)),
      0,
    )
    expect(account.leased).toBe(0)
    expect(millionths(account.capacity) - millionths(account.level)).toBe(spent)
    // More than there was is gone only by calls that took longer than was thought.
    expect(millionths(account.level)).toBeGreaterThanOrEqual(-debts)
    expect(own.length).toBeGreaterThan(CRASHES)
    if (account.agent === 'poor' && CRASHES >= 100) expect(account.level).toBeLessThan(30)
  }
  // What was under way at a kill cost what was set aside for it.
  const unknown = rows.filter(({ outcome }) => outcome === 'unknown')
  expect(unknown.length).toBeGreaterThan(0)
  expect(unknown.filter((row) => row.energy !== JSON.parse(row.arguments ?? '{}').reserved)).toEqual([])
})
