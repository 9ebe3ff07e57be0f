// Processes that use what a person allowed are killed at any moment; nothing that was allowed once is done twice.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { openStore } from '../../src/store/open.ts'
import { loadDriver } from '../../src/store/sqlite-driver.ts'
import { approvedCall } from './approved-call.ts'
import { buildChild } from './child.ts'

const CRASHES = Number(process.env['BUSBAR_CRASHES'] ?? 200)
const LANES = 2
const ALLOWED = 5_000

async function crash(file: string, child: string, said: number, settled: boolean): Promise<void> {
  const running = spawn(process.execPath, [child, file, String(ALLOWED)], {
    stdio: ['ignore', 'pipe', 'inherit', said],
  })
  const ended = once(running, 'exit')
  onTestFinished(() => void running.kill('SIGKILL'))
  if (settled && running.stdout !== null) await Promise.race([once(running.stdout, 'data'), ended])
  await sleep(Math.random() * (settled ? 60 : 250))
  running.kill('SIGKILL')
  expect((await ended)[1]).toBe('SIGKILL')
}

test(`[D11] ${CRASHES} processes killed while they use approvals use none twice`, {
  timeout: 60_000 + CRASHES * 2000,
}, async () => {
  const root = mkdtempSync(join(tmpdir(), 'busbar-approvals-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const child = await buildChild(root, 'approval-child.ts')
  const file = join(root, 'busbar.db')
  const store = await openStore({ file, sealKey: 'k', onTrouble: () => undefined })
  onTestFinished(() => store.close())
  allow(await loadDriver(), file)
  const lanes = Array.from({ length: LANES }, (_, lane) => join(root, `said-${lane}`))
  await Promise.all(
    lanes.map(async (path, lane) => {
      const said = openSync(path, 'a')
      try {
        for (let index = lane; index < CRASHES; index += LANES)
          await crash(file, child, said, index % 4 !== 0)
      } finally {
        closeSync(said)
      }
    }),
  )
  const said = lanes.map((path) => readFileSync(path, 'utf8')).join('\n')
  expect(said.split('\n').filter((line) => line.startsWith('t '))).toEqual([])
  // A kill may cut a line; what the next one says then follows in the same line.
  const used = [...said.matchAll(/u (\d+)\n/g)].map(([, number]) => number)
  expect(new Set(used).size).toBe(used.length)
  // A run in which nothing was used, or everything long before its end, would show little.
  expect(used.length).toBeGreaterThan(CRASHES)
  const rows = await store.approvals.list({ status: 'used', limit: 1_000_000 })
  const kept = new Set(rows.map(({ argumentsHash }) => argumentsHash))
  expect(rows.length).toBe(kept.size)
  expect(used.filter((number) => !kept.has(approvedCall(Number(number)).argumentsHash))).toEqual([])
  // Each killed process may have been between using one and saying so.
  expect(rows.length - used.length).toBeLessThanOrEqual(CRASHES)
})

function allow(open: Awaited<ReturnType<typeof loadDriver>>, file: string): void {
  const database = open(file)
  database.exec(
    `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${ALLOWED - 1}) ` +
      'INSERT INTO approvals (id, agent, server, tool, fingerprint, arguments_hash, arguments, status, created_at, ' +
      "expires_at) SELECT 'q' || i, 'cto', 'github', 'merge', 'f', 'hash ' || i, '{}', 'allowed', 1, 9e15 FROM n",
  )
  database.close()
}
