// A desk at which people are asked, with a store of its own and a clock that tests set.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { openStore } from '../store/open.ts'
import type { Approval } from '../store/policy.ts'
import { ApprovalDesk, type Question } from './approvals.ts'
import { Memories } from './memories.ts'

export const CALL: Question = {
  agent: 'cto',
  server: 'github',
  tool: 'merge',
  fingerprint: 'f1',
  identity: 'i1',
  argumentsHash: 'a1',
  arguments: '{"n":1}',
  risk: 'write',
}
export const NOW = { wait: 0 }
export const LONG = { wait: 60_000 }

export async function desk(file = join(temporary(), 'busbar.db')) {
  const trouble: string[] = []
  const store = await openStore({ file, sealKey: 'k', onTrouble: (message) => trouble.push(message) })
  const memories = await Memories.open(store.rules)
  const told: Approval[] = []
  const clock = { now: 1_000_000 }
  const it = new ApprovalDesk({
    approvals: store.approvals,
    memories,
    expiry: () => 60_000,
    onChange: (approval) => told.push(approval),
    onTrouble: (message) => trouble.push(message),
    now: () => clock.now,
  })
  onTestFinished(async () => {
    it.close()
    await store.close()
  })
  return { desk: it, memories, told, trouble, clock, file, store }
}

function temporary(): string {
  const root = mkdtempSync(join(tmpdir(), 'busbar-approvals-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  return root
}

export async function idOf(asked: Promise<unknown>): Promise<string> {
  const fault = await asked.then(
    () => undefined,
    (error: { code: string; details: { approval: string } }) => error,
  )
  expect(fault?.code).toBe('APPROVAL_PENDING')
  return fault?.details.approval ?? ''
}
