// A person is asked once, about one call, and the answer is used once.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { Stopper } from '../base/stop.ts'
import { openStore } from '../store/open.ts'
import type { Approval } from '../store/policy.ts'
import { loadDriver } from '../store/sqlite-driver.ts'
import { ApprovalDesk, type Question } from './approvals.ts'
import { Memories } from './memories.ts'

const CALL: Question = {
  agent: 'cto',
  server: 'github',
  tool: 'merge',
  fingerprint: 'f1',
  identity: 'i1',
  argumentsHash: 'a1',
  arguments: '{"n":1}',
  risk: 'write',
}
const NOW = { wait: 0 }
const LONG = { wait: 60_000 }

async function desk(file = join(temporary(), 'busbar.db')) {
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

async function idOf(asked: Promise<unknown>): Promise<string> {
  const fault = await asked.then(
    () => undefined,
    (error: { code: string; details: { approval: string } }) => error,
  )
  expect(fault?.code).toBe('APPROVAL_PENDING')
  return fault?.details.approval ?? ''
}

test('[D11] who calls is told to retry; once it is allowed, the very same call is made once', async () => {
  const { desk: it, told } = await desk()
  const id = await idOf(it.permit(CALL, NOW))
  expect(await idOf(it.permit(CALL, NOW))).toBe(id)
  expect(await it.answer(id, { decision: 'allow' }, 'ann')).toMatchObject({
    status: 'allowed',
    decidedBy: 'ann',
  })
  await it.permit(CALL, NOW)
  expect((await it.get(id)).status).toBe('used')
  expect(await idOf(it.permit(CALL, NOW))).not.toBe(id)
  expect(told.map(({ status }) => status)).toEqual(['pending', 'allowed', 'used', 'pending'])
})

test.each<[string, Partial<Question>]>([
  ['other arguments', { argumentsHash: 'a2' }],
  ['another definition', { fingerprint: 'f2' }],
  ['another agent', { agent: 'intern' }],
  ['another tool', { tool: 'close' }],
  ['another server', { server: 'gitlab' }],
])('[D11] an answer is not good for %s', async (_, change) => {
  const { desk: it } = await desk()
  const id = await idOf(it.permit(CALL, NOW))
  await it.answer(id, { decision: 'allow' }, 'ann')
  expect(await idOf(it.permit({ ...CALL, ...change }, NOW))).not.toBe(id)
  expect((await it.get(id)).status).toBe('allowed')
})

test('[D11] an answer is given once, and not after its time', async () => {
  const { desk: it, clock } = await desk()
  const id = await idOf(it.permit(CALL, NOW))
  const answers = await Promise.allSettled([
    it.answer(id, { decision: 'allow' }, 'ann'),
    it.answer(id, { decision: 'deny' }, 'bob'),
  ])
  expect(answers.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  await expect(it.answer(id, { decision: 'allow' }, 'eve')).rejects.toMatchObject({
    code: 'APPROVAL_UNKNOWN',
  })
  const late = await idOf(it.permit({ ...CALL, argumentsHash: 'late' }, NOW))
  clock.now += 60_000
  await expect(it.answer(late, { decision: 'allow' }, 'ann')).rejects.toThrow(/has expired/)
  expect((await it.list('expired')).map((approval) => approval.id)).toContain(late)
})

test('[D11] what was allowed and not used in time is asked again', async () => {
  const { desk: it, clock } = await desk()
  const id = await idOf(it.permit(CALL, NOW))
  await it.answer(id, { decision: 'allow' }, 'ann')
  clock.now += 60_000
  expect(await idOf(it.permit(CALL, NOW))).not.toBe(id)
})

test('[D11] a denied call stays denied until the question would have expired', async () => {
  const { desk: it, clock } = await desk()
  const id = await idOf(it.permit(CALL, NOW))
  await it.answer(id, { decision: 'deny' }, 'ann')
  await expect(it.permit(CALL, NOW)).rejects.toMatchObject({ code: 'APPROVAL_DENIED' })
  clock.now += 60_000
  await idOf(it.permit(CALL, NOW))
})

test('[D11] a call that waits goes on when it is allowed, by this process or another', async () => {
  const here = await desk()
  const there = await desk(here.file)
  const waiting = here.desk.permit(CALL, LONG)
  const [asked] = await until(() => there.desk.list('pending'))
  await there.desk.answer(asked?.id ?? '', { decision: 'allow' }, 'ann')
  await waiting
  const next = here.desk.permit(CALL, LONG)
  const [again] = await until(() => here.desk.list('pending'))
  await here.desk.answer(again?.id ?? '', { decision: 'deny' }, 'ann')
  await expect(next).rejects.toMatchObject({ code: 'APPROVAL_DENIED' })
})

test('[D11] of two calls that are the same, one answer lets one through; the other asks anew', async () => {
  const { desk: it } = await desk()
  const both = [it.permit(CALL, LONG), it.permit(CALL, LONG)]
  let through = 0
  for (const one of both) void one.then(() => (through += 1))
  for (let round = 1; round <= 2; round++) {
    const [asked] = await until(() => it.list('pending'))
    await it.answer(asked?.id ?? '', { decision: 'allow' }, 'ann')
    await until(async () => (through === round ? [true] : []))
  }
  await Promise.all(both)
})

test('[D11] a call that is cancelled while it waits takes its question back', async () => {
  const { desk: it } = await desk()
  const stop = new Stopper()
  const waiting = it.permit(CALL, { wait: 60_000, signal: stop })
  const [asked] = await until(() => it.list('pending'))
  stop.abort()
  await expect(waiting).rejects.toMatchObject({ code: 'CALL_CANCELLED' })
  expect((await it.get(asked?.id ?? '')).status).toBe('cancelled')
})

test('[D11] a question outlives its process', async () => {
  const before = await desk()
  const id = await idOf(before.desk.permit(CALL, NOW))
  await before.store.close()
  const after = await desk(before.file)
  expect(await idOf(after.desk.permit(CALL, NOW))).toBe(id)
})

test('[D11] a program may answer in the name of a person; what it leaves open stays open', async () => {
  const { desk: it, trouble } = await desk()
  const off = it.addApprover(({ tool }) => (tool === 'merge' ? { decision: 'allow' } : undefined))
  await it.permit(CALL, NOW)
  await idOf(it.permit({ ...CALL, tool: 'close' }, NOW))
  off()
  it.addApprover(() => {
    throw new Error('a bug of the program')
  })
  await idOf(it.permit(CALL, NOW))
  expect(trouble).toEqual(['an approver failed: a bug of the program'])
})

test('[D11] what is remembered is a rule for the tool or the whole server, and can be forgotten', async () => {
  const { desk: it, memories, file } = await desk()
  const id = await idOf(it.permit(CALL, NOW))
  const { version } = memories
  await it.answer(id, { decision: 'allow', remember: 'tool' }, 'ann')
  expect(memories.version).toBeGreaterThan(version)
  expect(memories.about('cto', 'github', 'merge', 'i1')).toMatchObject({ decision: 'allow', tool: 'merge' })
  expect(memories.about('cto', 'github', 'close', 'i1')).toBeUndefined()
  expect(memories.about('intern', 'github', 'merge', 'i1')).toBeUndefined()
  const other = await idOf(it.permit({ ...CALL, tool: 'delete' }, NOW))
  await it.answer(other, { decision: 'deny', remember: 'server' }, 'ann')
  // The stricter one counts.
  expect(memories.about('cto', 'github', 'merge', 'i1')).toMatchObject({ decision: 'deny' })
  const elsewhere = await desk(file)
  expect(elsewhere.memories.all).toHaveLength(2)
  await elsewhere.memories.remove(elsewhere.memories.about('cto', 'github', 'close', 'i1')?.id ?? '')
  await memories.refresh()
  expect(memories.about('cto', 'github', 'merge', 'i1')).toMatchObject({ decision: 'allow' })
  await expect(memories.remove('nothing')).rejects.toMatchObject({ code: 'APPROVAL_UNKNOWN' })
})

test('[D11] what is allowed for a whole server are its tools, and no other requests', async () => {
  const { desk: it, memories } = await desk()
  await it.answer(await idOf(it.permit(CALL, NOW)), { decision: 'allow', remember: 'server' }, 'ann')
  expect(memories.about('cto', 'github', 'close', 'i1')).toMatchObject({ decision: 'allow' })
  for (const method of ['#sampling/createMessage', '#custom/danger'])
    expect(memories.about('cto', 'github', method, 'i1')).toBeUndefined()
  // Who allows such a request for good allows that one alone.
  const sampling = await idOf(it.permit({ ...CALL, tool: '#sampling/createMessage' }, NOW))
  const answered = await it.answer(sampling, { decision: 'allow', remember: 'server' }, 'ann')
  expect(answered.remember).toBe('tool')
  expect(memories.about('cto', 'github', '#sampling/createMessage', 'i1')).toMatchObject({
    decision: 'allow',
  })
  expect(memories.about('cto', 'github', '#custom/danger', 'i1')).toBeUndefined()
  // What is denied for all of it is denied for these as well.
  const denied = await idOf(it.permit({ ...CALL, tool: 'delete' }, NOW))
  await it.answer(denied, { decision: 'deny', remember: 'server' }, 'ann')
  expect(memories.about('cto', 'github', '#custom/danger', 'i1')).toMatchObject({ decision: 'deny' })
})

test('[D11] what is allowed for good is allowed to what ran then, and not to what takes its name', async () => {
  const { desk: it, memories, store } = await desk()
  const about = (identity: string | undefined) => memories.about('cto', 'github', 'merge', identity)
  // As an older version wrote it.
  await store.rules.add({
    id: 'old',
    agent: 'cto',
    server: 'github',
    tool: 'merge',
    decision: 'allow',
    createdAt: 1,
  })
  await memories.refresh()
  expect([about('i1'), about(undefined)]).toEqual([undefined, undefined])
  const remember = async (call: Question, decision: 'allow' | 'deny') =>
    await it.answer(await idOf(it.permit(call, NOW)), { decision, remember: 'tool' }, 'ann')
  await remember(CALL, 'allow')
  expect(about('i1')).toMatchObject({ decision: 'allow', identity: 'i1' })
  expect([about('i2'), about(undefined)]).toEqual([undefined, undefined])
  expect(memories.all.map(({ identity }) => identity)).toEqual(['i1'])
  // Each of two that take turns is remembered.
  await remember({ ...CALL, identity: 'i2', argumentsHash: 'a2' }, 'allow')
  expect([about('i1')?.decision, about('i2')?.decision]).toEqual(['allow', 'allow'])
  // What is denied stays so.
  await remember({ ...CALL, argumentsHash: 'a3' }, 'deny')
  expect([about('i2')?.decision, about('i3')?.decision]).toEqual(['deny', 'deny'])
})

test('[D11] who retries is told how long the question can still be answered', async () => {
  const { desk: it, clock } = await desk()
  const said = () => it.permit(CALL, NOW).catch((error: Error) => error.message)
  expect(await said()).toContain('can be answered for 60 s: retry')
  clock.now += 57_000
  expect(await said()).toContain('can be answered for 3 s: retry')
})

test('[D11] an answer that is not understood is refused, and nothing is written', async () => {
  const { desk: it, memories, trouble } = await desk()
  const id = await idOf(it.permit(CALL, NOW))
  const wrong = [
    { decision: 'allow', remember: true },
    { decision: 'allow', remember: 'all' },
    { decision: 'allow', remember: '' },
    { decision: 'allow', remember: null },
    { decision: 'yes' },
    { remember: 'tool' },
    true,
    null,
  ] as unknown as Parameters<typeof it.answer>[1][]
  for (const answer of wrong)
    await expect(it.answer(id, answer, 'ann')).rejects.toMatchObject({ code: 'USAGE' })
  for (const answer of wrong.slice(0, 6)) {
    const remove = it.addApprover(() => answer)
    await idOf(it.permit(CALL, NOW))
    remove()
  }
  expect(trouble).toHaveLength(6)
  expect((await it.get(id)).status).toBe('pending')
  expect(memories.all).toEqual([])
})

test('[D11] an answer that comes second leaves no rule behind', async () => {
  const { desk: it, memories } = await desk()
  const id = await idOf(it.permit(CALL, NOW))
  const [first, second] = await Promise.allSettled([
    it.answer(id, { decision: 'deny' }, 'ann'),
    it.answer(id, { decision: 'allow', remember: 'server' }, 'bob'),
  ])
  expect([first.status, second.status]).toEqual(['fulfilled', 'rejected'])
  expect(memories.all).toEqual([])
})

test('[D11] a call that is cancelled while its question is being put does not wait', async () => {
  const { desk: it } = await desk()
  const stop = new Stopper()
  const waiting = it.permit(CALL, { wait: 60_000, signal: stop })
  stop.abort()
  await expect(waiting).rejects.toMatchObject({ code: 'CALL_CANCELLED' })
  expect(await it.list('pending')).toEqual([])
})

test('[D11] calls that are the same and come together put one question', async () => {
  const { desk: it } = await desk()
  const ids = await Promise.all([1, 2, 3].map(() => idOf(it.permit(CALL, NOW))))
  expect(new Set(ids).size).toBe(1)
})

test('[D11] ten thousand open questions are no problem', async () => {
  const { desk: it, file, clock } = await desk()
  const open = await loadDriver()
  const database = open(file)
  database.exec(
    'WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9999) INSERT INTO approvals (id, agent, ' +
      "server, tool, fingerprint, arguments_hash, arguments, status, created_at, expires_at) SELECT 'q' || i, 'cto', " +
      `'github', 'merge', 'f1', 'h' || i, '{}', 'pending', ${clock.now}, ${clock.now + 60_000} FROM n`,
  )
  database.close()
  expect(await it.list('pending')).toHaveLength(10_000)
  expect(await idOf(it.permit({ ...CALL, argumentsHash: 'h7777' }, NOW))).toBe('q7777')
  expect(await it.statistics(0)).toMatchObject({ asked: 10_000, pending: 10_000, allowed: 0 })
})

test('[D11] how people answered is counted', async () => {
  const { desk: it, clock } = await desk()
  for (const [hash, decision, after] of [
    ['one', 'allow', 1000],
    ['two', 'deny', 3000],
    ['three', 'allow', 9000],
  ] as const) {
    const id = await idOf(it.permit({ ...CALL, argumentsHash: hash }, NOW))
    clock.now += after
    await it.answer(id, { decision }, 'ann')
  }
  await it.permit({ ...CALL, argumentsHash: 'one' }, NOW)
  expect(await it.statistics(0)).toEqual({
    asked: 3,
    allowed: 2,
    denied: 1,
    expired: 0,
    pending: 0,
    median: 3000,
  })
})

async function until<T>(look: () => Promise<T[]>): Promise<T[]> {
  for (;;) {
    const found = await look()
    if (found.length > 0) return found
    await new Promise((resolve) => setImmediate(resolve))
  }
}

test('[D11] who waits for an answer without calling is told it, and takes the question back when they give up', async () => {
  const { desk: it } = await desk()
  const ask = (argumentsHash: string) => idOf(it.permit({ ...CALL, argumentsHash }, NOW))
  const first = await ask('one')
  expect(await it.settled(first, NOW)).toBe('pending')
  const told = it.settled(first, LONG)
  await it.answer(first, { decision: 'allow' }, 'me')
  expect(await told).toBe('allowed')
  // Not used up by that.
  expect((await it.get(first)).status).toBe('allowed')
  const second = await ask('two')
  const stop = new Stopper()
  const left = it.settled(second, { ...LONG, signal: stop })
  stop.abort()
  await expect(left).rejects.toMatchObject({ code: 'CALL_CANCELLED' })
  expect((await it.get(second)).status).toBe('cancelled')
  expect(await it.settled('none', LONG)).toBe('expired')
})
