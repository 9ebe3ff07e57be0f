// A person is asked once, about one call, and the answer is used once.

import { expect, test } from 'vitest'
import { Stopper } from '../base/stop.ts'
import type { Approval } from '../store/policy.ts'
import { loadDriver } from '../store/sqlite-driver.ts'
import type { Question } from './approvals.ts'
import { CALL, desk, idOf, LONG, NOW } from './testing.ts'

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
  expect((await it.list()).map(({ status, decidedBy }) => [status, decidedBy])).toEqual([['expired', 'ann']])
  expect((await it.get(id)).status).toBe('expired')
  expect((await it.statistics(0)).allowed).toBe(1)
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

test('[D11] who gives up takes no question back that another waits for', async () => {
  const { desk: it } = await desk()
  const stop = new Stopper()
  const one = it.permit(CALL, LONG)
  const other = it.permit(CALL, { ...LONG, signal: stop })
  const [asked] = await until(() => it.list('pending'))
  stop.abort()
  await expect(other).rejects.toMatchObject({ code: 'CALL_CANCELLED' })
  await it.answer(asked?.id ?? '', { decision: 'allow' }, 'ada')
  expect((await one).id).toBe(asked?.id)
})

test('[D11] each call has a dialogue of its own at its client, and who cannot be asked does not wait for that of another', async () => {
  const { desk: it } = await desk()
  const shown: { id: string; answer: (decision: 'allow') => void }[] = []
  const client = ({ id }: Approval) =>
    new Promise<{ decision: 'allow' }>((resolve) =>
      shown.push({ id, answer: (decision) => resolve({ decision }) }),
    )
  const stop = new Stopper()
  const first = it.permit(CALL, { ...NOW, client })
  await until(async () => shown)
  await expect(it.permit(CALL, NOW)).rejects.toMatchObject({ code: 'APPROVAL_PENDING' })
  const second = it.permit(CALL, { ...NOW, client, signal: stop })
  await until(async () => shown.slice(1))
  stop.abort()
  await expect(second).rejects.toMatchObject({ code: 'CALL_CANCELLED' })
  shown[0]?.answer('allow')
  expect((await first).id).toBe(shown[0]?.id)
  expect((await it.list()).map(({ status }) => status).sort()).toEqual(['cancelled', 'used'])
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

test('[D11] a handler that fails, or whose answer is none, keeps no other from answering', async () => {
  const { desk: it, trouble } = await desk()
  it.addApprover(() => Promise.reject(new Error('a bug of the program')))
  it.addApprover(() => ({ decision: 'yes' }) as never)
  it.addApprover(({ tool }) => ({ decision: tool === 'merge' ? 'allow' : 'deny' }))
  await it.permit(CALL, NOW)
  await expect(it.permit({ ...CALL, tool: 'close' }, NOW)).rejects.toMatchObject({ code: 'APPROVAL_DENIED' })
  expect(trouble).toHaveLength(4)
})

test('[D11] a question that was taken back is not put again for the call that waits for it', async () => {
  const { desk: it } = await desk()
  const waiting = it.permit(CALL, LONG)
  const [asked] = await until(async () => await it.list('pending'))
  await it.withdraw(asked?.id ?? '')
  await expect(waiting).rejects.toMatchObject({ code: 'CALL_CANCELLED', message: /was taken back/ })
  expect(await it.list('pending')).toEqual([])
  // Made again, it is another question.
  await idOf(it.permit(CALL, NOW))
})

test('[D11] what is said about a tool from now on is said about calls of it that wait already', async () => {
  const { desk: it } = await desk()
  const others = { tool: 'close', argumentsHash: 'b' }
  const waiting = [
    it.permit(CALL, LONG),
    it.permit({ ...CALL, argumentsHash: 'another' }, LONG),
    it.permit({ ...CALL, ...others }, { wait: 0 }),
    it.permit({ ...CALL, agent: 'cfo' }, { wait: 0 }),
  ]
  const results = Promise.allSettled(waiting)
  const all = await until(async () => (await it.list('pending')).slice(0, 4), 4)
  const first = all.find(({ argumentsHash, agent }) => argumentsHash === 'a1' && agent === 'cto')
  await it.answer(first?.id ?? '', { decision: 'allow', remember: 'tool' }, 'ann')
  expect((await results).map(({ status }) => status)).toEqual([
    'fulfilled',
    'fulfilled',
    'rejected',
    'rejected',
  ])
  expect((await it.list('pending')).map(({ tool, agent }) => [tool, agent]).sort()).toEqual([
    ['close', CALL.agent],
    [CALL.tool, 'cfo'],
  ])
})

test('[D11] an approver that thinks is waited for as long as the caller gave, and its answer counts all the same', async () => {
  const { desk: it } = await desk()
  let decide: (answer: { decision: 'allow' }) => void = () => undefined
  it.addApprover(() => new Promise((resolve) => (decide = resolve)))
  const id = await idOf(it.permit(CALL, { wait: 20, limit: 20 }))
  // Another try of the same call waits for the same approver, no longer than it may.
  expect(await idOf(it.permit(CALL, { wait: 0, limit: 0 }))).toBe(id)
  const waiting = it.permit(CALL, NOW)
  decide({ decision: 'allow' })
  expect((await waiting).id).toBe(id)
})

test('[D11] an approver that answers at once is heard also by who does not want to wait', async () => {
  const { desk: it } = await desk()
  it.addApprover(() => ({ decision: 'allow' }))
  await it.permit(CALL, { wait: 0, limit: 0 })
})

test.each([undefined, null, 7, {}])('[D11] %s is no id', async (id) => {
  const { desk: it } = await desk()
  const given = id as unknown as string
  const fault = { code: 'APPROVAL_UNKNOWN', hint: 'run: busbar approve list' }
  await expect(it.answer(given, { decision: 'allow' }, 'ann')).rejects.toMatchObject(fault)
  await expect(it.get(given)).rejects.toMatchObject(fault)
})

test('[D11] who retries is told how long the question can still be answered', async () => {
  const { desk: it, clock } = await desk()
  const said = () => it.permit(CALL, NOW).catch((error: Error) => error.message)
  expect(await said()).toContain('can be answered for 60 s: retry')
  clock.now += 57_000
  expect(await said()).toContain('can be answered for 3 s: retry')
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

test('[D11] who asks without end is refused, and hides nobody else’s question', async () => {
  const { desk: it, file, clock } = await desk()
  const first = await idOf(it.permit({ ...CALL, agent: 'cfo' }, NOW))
  const open = await loadDriver()
  const database = open(file)
  database.exec(
    'WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 39999) INSERT INTO approvals (id, agent, ' +
      "server, tool, fingerprint, arguments_hash, arguments, status, created_at, expires_at) SELECT 'q-' || (100000 + i), " +
      `'a' || (i / 10000), 'github', 'merge', 'f1', 'h' || i, '{}', 'pending', ${clock.now + 1}, ${clock.now + 60_000} FROM n`,
  )
  database.close()
  // Those that wait the longest are listed, and every one is found.
  expect((await it.list('pending')).slice(0, 2).map(({ id }) => id)).toEqual([first, 'q-100000'])
  expect((await it.get('-111999')).id).toBe('q-111999')
  expect((await it.get(first.slice(-8))).id).toBe(first)
  const again = { ...CALL, argumentsHash: 'another' }
  for (const agent of ['a3', 'a3/worker'])
    await expect(it.permit({ ...again, agent }, NOW)).rejects.toMatchObject({
      code: 'APPROVALS_FULL',
      message: 'a3 has 10000 questions open, so nobody is asked about github/merge',
    })
  // One that is open already is not another one.
  await idOf(it.permit({ ...CALL, agent: 'a3', argumentsHash: 'h30000' }, NOW))
  await idOf(it.permit({ ...again, agent: 'a33' }, NOW))
  await it.answer('q-130000', { decision: 'deny' }, 'ann')
  await idOf(it.permit({ ...again, agent: 'a3' }, NOW))
  clock.now += 70_000
  await idOf(it.permit({ ...again, agent: 'a4' }, NOW))
})

test('[D11] an end that fits several ids names none', async () => {
  const { desk: it, store, clock } = await desk()
  const times = { status: 'pending', createdAt: clock.now, expiresAt: clock.now + 1000 } as const
  for (const id of ['one-abcdef', 'two-abcdef'])
    await store.approvals.add({ ...CALL, ...times, id, argumentsHash: id })
  await expect(it.get('abcdef')).rejects.toMatchObject({
    code: 'APPROVAL_UNKNOWN',
    hint: 'write more of the id',
  })
  expect((await it.get('e-abcdef')).id).toBe('one-abcdef')
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
    rate: 2 / 3,
    median: 3000,
  })
})

async function until<T>(look: () => Promise<T[]>, count = 1): Promise<T[]> {
  for (;;) {
    const found = await look()
    if (found.length >= count) return found
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
