import { expect, test } from 'vitest'
import type { ApprovalView } from '../call/approval-view.ts'
import { compareArguments } from '../call/argument-changes.ts'
import { Output } from './output.ts'
import { approvalLines } from './show-approval.ts'

test.each([
  ['"12345678901234567891"', '12345678901234567891'],
  ['12345678901234567891', '12345678901234567000'],
  ['{"a":1.0}', '"1.0"'],
])('[D11] the last call had %s, this one has %s: both are shown as they were written', (before, after) => {
  const text = `{"n":${before}}`
  const now = `{"n":${after}}`
  const lastCall = {
    at: 0,
    ...compareArguments({ text, bytes: text.length }, { text: now, digest: 'another' }),
  }
  const approval: ApprovalView = {
    id: 'one',
    agent: 'ada',
    server: 'x',
    tool: 'write',
    address: 'x/write',
    arguments: now,
    status: 'pending',
    createdAt: 0,
    expiresAt: 1,
    lastCall,
  }
  const lines = approvalLines(new Output({ json: false, color: false }), approval)
  expect(lines).toContain(`    n: ${before} → ${after}`)
})
