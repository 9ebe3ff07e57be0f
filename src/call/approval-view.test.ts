import { expect, test } from 'vitest'
import type { InvocationFilter, RecordedInvocation } from '../store/invocation.ts'
import type { Approval } from '../store/policy.ts'
import { approvalViews } from './approval-view.ts'

function asked(count: number, about: (index: number) => Partial<Approval>): Approval[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `id ${index}`,
    agent: 'cto',
    server: 'github',
    tool: 'merge',
    fingerprint: 'f',
    argumentsHash: `hash ${index}`,
    arguments: `{"n":${index}}`,
    status: 'pending',
    createdAt: index,
    expiresAt: 1_000_000,
    ...about(index),
  }))
}

/** A record that tells what it was asked for, and has one call of each tool. */
function record() {
  const filters: InvocationFilter[] = []
  const list = async (filter: InvocationFilter) => {
    filters.push(filter)
    return [CALL]
  }
  return { filters, calls: { list } }
}

const CALL: RecordedInvocation = {
  seq: 1,
  id: 'call',
  agent: 'cto',
  server: 'github',
  tool: 'merge',
  surface: 'gateway',
  startedAt: 5,
  duration: 1,
  outcome: 'ok',
  requestBytes: 8,
  resultBytes: 0,
  arguments: '{"n":-1}',
}

test('[D11] the last call of a tool is looked up once for all of the questions about it', async () => {
  const { filters, calls } = record()
  const views = await approvalViews(
    asked(500, (index) => ({ tool: index % 2 === 0 ? 'merge' : 'close' })),
    calls,
  )
  expect(filters.map(({ tool }) => tool)).toEqual(['merge', 'close'])
  expect(views.map(({ lastCall }) => lastCall?.changes)).toEqual(
    views.map((_, index) => [{ path: 'n', before: -1, after: index }]),
  )
})

test('[D11] of very many tools only the first are compared, and of what was answered nothing', async () => {
  const { filters, calls } = record()
  const views = await approvalViews(
    asked(300, (index) => ({ tool: `tool ${index}` })),
    calls,
  )
  expect(filters).toHaveLength(100)
  expect(views.filter(({ lastCall }) => lastCall !== undefined)).toHaveLength(100)
  const answered = record()
  await approvalViews(
    asked(300, () => ({ status: 'allowed' })),
    answered.calls,
  )
  expect(answered.filters).toEqual([])
})
