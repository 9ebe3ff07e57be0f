// Every call has one row, whatever becomes of the process.

import { appendFileSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { beginLine, type CallEnd, endLine, toInvocation } from './line.ts'
import { call, deadPid, journals, OK, place } from './testing.ts'

test('a call is one row with what was said at its begin and at its end', async () => {
  const { open: openRecorder, invocations } = await place()
  const recorder = await openRecorder({ summary: (said) => `${said}!` })
  const said = { conversation: 'c', arguments: '{"text":"line\\nbreak \u2028"}' }
  const open = recorder.begin(call('a', said))
  const end: CallEnd = {
    duration: 2.5,
    outcome: 'error',
    code: 'TOOL_FAILED',
    error: 'issue 12 is gone',
    energy: 4,
    resultBytes: 9,
    said: 'gone',
  }
  recorder.end(open, end)
  recorder.end(open, OK)
  await recorder.flush()
  expect(await invocations.list({})).toEqual([
    {
      seq: 1,
      id: 'a',
      agent: 'cto',
      server: 'github',
      tool: 'get',
      surface: 'cli',
      startedAt: 5,
      requestBytes: 2,
      ...said,
      duration: 2.5,
      outcome: 'error',
      code: 'TOOL_FAILED',
      error: 'issue 12 is gone',
      energy: 4,
      resultBytes: 9,
      result: 'gone!',
      pattern: 'issue <number> is gone',
    },
  ])
  expect(recorder.recovered).toEqual({ ended: 0, unknown: 0 })
})

test('rows go to the store by themselves, after a time or when there are many', async () => {
  const { open, ids } = await place()
  const slow = await open({ batch: { rows: 1000, milliseconds: 20 } })
  slow.end(slow.begin(call('a')), OK)
  await vi.waitUntil(async () => (await ids()).length === 1, { timeout: 20_000 })
  const many = await open({ batch: { rows: 3, milliseconds: 1e6 } })
  for (const id of ['b', 'c', 'd']) many.end(many.begin(call(id)), OK)
  await vi.waitUntil(async () => (await ids()).length === 4, { timeout: 20_000 })
})

test('the journal is empty when nothing is open, and gone when it is closed', async () => {
  const { open, folder } = await place()
  const recorder = await open()
  const [name = ''] = journals(folder)
  const file = join(folder, name)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const first = recorder.begin(call('a'))
  const second = recorder.begin(call('b'))
  recorder.end(first, OK)
  await recorder.flush()
  expect(statSync(file).size).toBeGreaterThan(0)
  recorder.end(second, OK)
  await recorder.flush()
  expect(statSync(file).size).toBe(0)
  await recorder.close()
  expect(journals(folder)).toEqual([])
})

test('what is open at the close was cancelled; afterwards nothing begins', async () => {
  const { open, invocations } = await place()
  const recorder = await open()
  const ticket = recorder.begin(call('a', { startedAt: Date.now() }))
  await Promise.all([recorder.close(), recorder.close()])
  recorder.end(ticket, OK)
  expect(await invocations.list({})).toMatchObject([{ id: 'a', outcome: 'cancelled', code: 'CLOSED' }])
  expect(() => recorder.begin(call('b'))).toThrow(expect.objectContaining({ code: 'CLOSED' }))
})

test('calls of a process that died are recorded once, those without an end as unknown', async () => {
  const { open, folder, invocations, ids, trouble } = await place()
  await (await open()).close()
  const pid = deadPid()
  const name = (letter: string) => join(folder, `${pid}.1.${letter.repeat(16)}.journal`)
  const failed: CallEnd = { ...OK, outcome: 'error', error: 'no 1', code: 'TOOL_FAILED' }
  writeFileSync(
    name('a'),
    beginLine(1, call('ended')) +
      beginLine(2, call('open')) +
      endLine(1, failed) +
      endLine(7, OK) +
      beginLine(3, call('carried')) +
      'no line\n' +
      beginLine(4, call('stored')),
  )
  // Carried over to a second file, where it ended; the last line was being written.
  writeFileSync(
    name('b'),
    beginLine(3, call('carried')) + endLine(3, OK) + endLine(4, OK) + beginLine(5, call('half')).slice(0, -2),
  )
  await invocations.append([toInvocation(0, call('stored'), OK)])
  const recorder = await open()
  expect(await ids()).toEqual(['open unknown', 'carried ok', 'ended error', 'stored ok'])
  expect((await invocations.list({}))[0]).toMatchObject({ code: 'CRASHED', duration: 0, startedAt: 5 })
  expect((await invocations.list({ outcome: 'error' }))[0]).toMatchObject({ pattern: 'no <number>' })
  expect(recorder.recovered).toEqual({ ended: 2, unknown: 2 })
  expect(existsSync(name('a')) || existsSync(name('b'))).toBe(false)
  expect(trouble).toEqual([])
})

test('journals of living processes and other files are left alone', async () => {
  const { open, folder, ids } = await place()
  const living = await open()
  const ticket = living.begin(call('a'))
  writeFileSync(join(folder, 'notes.txt'), 'mine')
  const next = await open()
  expect(next.recovered).toEqual({ ended: 0, unknown: 0 })
  living.end(ticket, OK)
  await living.flush()
  expect(await ids()).toEqual(['a ok'])
  expect(existsSync(join(folder, 'notes.txt'))).toBe(true)
})

test('a process that got a dead one’s number is not taken for it', async () => {
  const { open, folder, ids } = await place()
  await (await open()).close()
  writeFileSync(join(folder, `${process.pid}.1.${'a'.repeat(16)}.journal`), beginLine(1, call('a')))
  await open()
  expect(await ids()).toEqual(['a unknown'])
})

test('a journal that has grown is begun anew with what is open', async () => {
  const { open, folder, ids } = await place()
  const recorder = await open()
  const [before = ''] = journals(folder)
  const long = recorder.begin(call('long', { arguments: 'kept' }))
  for (let index = 0; index < 50; index++)
    recorder.end(recorder.begin(call(`a${index}`, { arguments: 'x'.repeat(100_000) })), OK)
  await recorder.flush()
  const [after = '', ...more] = journals(folder)
  expect(more).toEqual([])
  expect(after).not.toBe(before)
  expect(readFileSync(join(folder, after), 'utf8')).toBe(
    beginLine(long.ticket, call('long', { arguments: 'kept' })),
  )
  recorder.end(long, OK)
  await recorder.flush()
  expect((await ids())[0]).toBe('long ok')
  expect(statSync(join(folder, after)).size).toBe(0)
})

test('a line longer than what is read at once is read whole', async () => {
  const { open, folder, invocations } = await place()
  await (await open()).close()
  const file = join(folder, `${deadPid()}.1.${'a'.repeat(16)}.journal`)
  const text = 'é'.repeat(1_500_000)
  writeFileSync(file, beginLine(1, call('a', { arguments: text })))
  appendFileSync(file, endLine(1, OK))
  await open()
  expect((await invocations.list({}))[0]?.arguments).toBe(text)
})

test('what a call cost is charged with its row, to its agent and to the recorder’s lease [D2]', async () => {
  const { open, store } = await place()
  await store.energy.configure(new Map([['cto', { capacity: 10, recovery: 0 }]]))
  const recorder = await open()
  await store.energy.lease(recorder.owner, 'cto', () => 5)
  recorder.end(recorder.begin(call('a', { reserved: 2 })), { ...OK, energy: 1.5 })
  recorder.begin(call('b', { reserved: 2, startedAt: Date.now() }))
  await recorder.flush()
  expect(await store.energy.account('cto')).toMatchObject({ level: 8.5, leased: 3.5 })
  await recorder.close()
  // Nobody knows what the second took, so it cost what was set aside for it.
  expect(await store.energy.account('cto')).toMatchObject({ level: 6.5, leased: 0 })
  expect(await store.energy.owners()).toEqual([])
})

test('a dead process’s calls are charged and what it had leased is returned, its lease first used up [D16]', async () => {
  const { open, store, folder, invocations } = await place()
  await store.energy.configure(new Map([['cto', { capacity: 100, recovery: 0 }]]))
  await (await open()).close()
  const dead = `${deadPid()}.1.${'a'.repeat(16)}`
  const alive = await open()
  for (const owner of [dead, alive.owner, 'no mark']) await store.energy.lease(owner, 'cto', () => 10)
  writeFileSync(
    join(folder, `${dead}-3.journal`),
    beginLine(1, call('ended', { reserved: 2 })) +
      beginLine(2, call('open', { reserved: 3 })) +
      beginLine(3, call('free')) +
      endLine(1, { ...OK, energy: 2.5 }),
  )
  await open()
  expect(await store.energy.account('cto')).toMatchObject({ level: 94.5, leased: 20 })
  expect(await store.energy.owners()).toEqual([alive.owner, 'no mark'].toSorted())
  const rows = await invocations.list({})
  expect(rows.map(({ id, energy }) => [id, energy])).toEqual([
    ['free', undefined],
    ['open', 3],
    ['ended', 2.5],
  ])
  await open()
  expect(await store.energy.account('cto')).toMatchObject({ level: 94.5, leased: 20 })
})

test('calls that are refused at once, one after the other, leave timers their turn', async () => {
  const { open } = await place()
  const recorder = await open()
  let rang = false
  setTimeout(() => {
    rang = true
  }, 1)
  let calls = 0
  for (; !rang && calls < 100_000; calls++) {
    recorder.end(recorder.begin(call(`a${calls}`)), { ...OK, outcome: 'denied' })
    await recorder.written()
  }
  expect(calls).toBeLessThan(100_000)
})
