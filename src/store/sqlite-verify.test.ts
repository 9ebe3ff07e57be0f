// Whatever is done to the record of calls behind Busbar's back, checking it shows.

import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openStore } from './open.ts'
import type { Store } from './store.ts'
import { invocation } from './suite-invocations.ts'
import { KEY, raw, temporary } from './suite-sqlite.ts'

interface Case {
  readonly store: Store
  readonly trouble: string[]
  /** Does something to the file as another program would. */
  tamper(sql: string): Promise<void>
}

async function withRows(rows = 6, sealKey = KEY, file = join(temporary(), 'busbar.db')): Promise<Case> {
  const trouble: string[] = []
  const store = await openStore({ file, sealKey, onTrouble: (message) => trouble.push(message) })
  onTestFinished(() => store.close())
  const full = {
    conversation: 'c',
    code: 'C',
    error: 'e',
    pattern: 'p',
    energy: 1,
    arguments: '{}',
    result: 'r',
  }
  await store.invocations.append(
    Array.from({ length: rows }, (_, index) =>
      invocation(`i${index + 1}`, { ...full, tool: `t${index + 1}` }),
    ),
  )
  return { store, trouble, tamper: (sql) => raw(file, (database) => database.exec(sql)) }
}

test.each([
  ['id', "'other'"],
  ['name', '1'],
  ['conversation', 'NULL'],
  ['started_at', 'started_at + 1'],
  ['duration', 'duration + 0.001'],
  ['outcome', "'ok '"],
  ['code', "'D'"],
  ['error', "''"],
  ['pattern', 'NULL'],
  ['energy', 'NULL'],
  ['request_bytes', '11'],
  ['result_bytes', '21'],
  ['arguments', "'{ }'"],
  ['result', "'R'"],
  ['hash', "replace(hash, substr(hash, 1, 1), '-')"],
])('a changed %s is found', async (column, value) => {
  const { store, tamper } = await withRows()
  await tamper(`UPDATE invocations SET ${column} = ${value} WHERE seq = 4`)
  expect(await store.invocations.verify()).toEqual({
    ok: false,
    rows: 3,
    seq: 4,
    problem: 'row 4 was changed',
  })
})

test('text moved from one column to the next is found', async () => {
  const { store, tamper } = await withRows()
  await tamper("UPDATE invocations SET code = 'Ce', error = '' WHERE seq = 2")
  expect(await store.invocations.verify()).toMatchObject({ ok: false, seq: 2 })
})

test.each([
  ['DELETE FROM invocations WHERE seq = 1', 1, 'row 1 is missing'],
  ['DELETE FROM invocations WHERE seq = 3', 3, 'row 3 is missing'],
  ['DELETE FROM invocations WHERE seq = 6', 6, 'the end is cut: row 6 and what followed it are missing'],
  ['DELETE FROM invocations WHERE seq > 4', 5, 'the end is cut: row 5 and what followed it are missing'],
  ['DELETE FROM invocations', 1, 'the end is cut: row 1 and what followed it are missing'],
  [
    'DELETE FROM invocations WHERE seq = 3; UPDATE invocations SET seq = seq - 1 WHERE seq > 3',
    3,
    'row 3 was changed',
  ],
])('what was removed is found: %s', async (sql, seq, problem) => {
  const { store, tamper } = await withRows()
  await tamper(sql)
  expect(await store.invocations.verify()).toMatchObject({ ok: false, seq, problem })
})

const COPY =
  "SELECT 'new', name, conversation, started_at, duration, outcome, code, error, pattern, energy, request_bytes, " +
  'result_bytes, arguments, result, hash FROM invocations WHERE seq = 2'
const shifted =
  'UPDATE invocations SET seq = -seq - 1 WHERE seq >= 4; UPDATE invocations SET seq = -seq WHERE seq < 0;'

test.each([
  [`${shifted} INSERT INTO invocations SELECT 4, * FROM (${COPY})`, 4, 'row 4 was inserted'],
  [`INSERT INTO invocations SELECT 7, * FROM (${COPY})`, 7, 'row 7 was inserted after the end'],
  [`INSERT INTO invocations SELECT 70, * FROM (${COPY})`, 70, 'row 70 was inserted after the end'],
  [`INSERT INTO invocations SELECT 0, * FROM (${COPY})`, 0, 'row 0 was inserted'],
])('what was put in is found', async (sql, seq, problem) => {
  const { store, tamper } = await withRows()
  // Shifting puts a seventh row behind the head; what was put in comes first.
  await tamper(sql)
  expect(await store.invocations.verify()).toMatchObject({ ok: false, seq, problem })
})

test('a row put in after the end is found when others were added since', async () => {
  const { store, tamper } = await withRows()
  await tamper(`INSERT INTO invocations SELECT 7, * FROM (${COPY})`)
  await store.invocations.append([invocation('later')])
  expect(await store.invocations.verify()).toMatchObject({ ok: false, seq: 7, problem: 'row 7 was inserted' })
})

test('two rows that changed places are found', async () => {
  const { store, tamper } = await withRows()
  await tamper(
    'UPDATE invocations SET seq = -1 WHERE seq = 3; UPDATE invocations SET seq = 3 WHERE seq = 4; ' +
      'UPDATE invocations SET seq = 4 WHERE seq = -1',
  )
  expect(await store.invocations.verify()).toMatchObject({ ok: false, seq: 3 })
})

test.each([
  "UPDATE names SET agent = 'cfo' WHERE tool = 't5'",
  "UPDATE names SET surface = 'cli' WHERE tool = 't5'",
  "DELETE FROM names WHERE tool = 't5'",
])('a changed name is found in the first row that has it: %s', async (sql) => {
  const { store, tamper } = await withRows()
  await tamper(sql)
  expect(await store.invocations.verify()).toMatchObject({ ok: false, seq: 5, problem: 'row 5 was changed' })
})

test.each([
  "UPDATE chain SET count = count + 1 WHERE part = 'head'",
  "UPDATE chain SET seal = 'x' WHERE part = 'head'",
  "DELETE FROM chain WHERE part = 'head'",
  "UPDATE chain SET seq = 5, hash = (SELECT hash FROM invocations WHERE seq = 5) WHERE part = 'head'; DELETE FROM invocations WHERE seq = 6",
])('a changed head is found: %s', async (sql) => {
  const { store, tamper } = await withRows()
  await tamper(sql)
  expect(await store.invocations.verify()).toMatchObject({
    ok: false,
    problem: 'the head record was changed or removed, or the key is another',
  })
})

test('writing on does not heal a changed head; recording goes on and somebody is told', async () => {
  const { store, trouble, tamper } = await withRows()
  await tamper(
    "DELETE FROM invocations WHERE seq = 6; UPDATE chain SET seq = 5, count = 5, hash = (SELECT hash FROM invocations WHERE seq = 5) WHERE part = 'head'",
  )
  await store.invocations.append([invocation('later')])
  await store.invocations.append([invocation('last')])
  expect(await store.invocations.list({})).toHaveLength(7)
  expect(trouble).toHaveLength(1)
  expect(trouble[0]).toMatch(/was changed by somebody/)
  expect(await store.invocations.verify()).toMatchObject({
    ok: false,
    seq: 6,
    problem: 'row 6 was added when the head record had been changed',
  })
})

test('pruning does not hide what somebody removed', async () => {
  const { store, tamper } = await withRows()
  await tamper('DELETE FROM invocations WHERE seq <= 2')
  await expect(store.invocations.prune(1e12)).rejects.toMatchObject({ code: 'STORE_DAMAGED' })
  expect(await store.invocations.verify()).toMatchObject({ ok: false, seq: 1, problem: 'row 1 is missing' })
})

test('a changed checkpoint is found and stops pruning', async () => {
  const { store, tamper } = await withRows()
  await tamper(
    "UPDATE chain SET seq = 2, count = 2, hash = (SELECT hash FROM invocations WHERE seq = 2) WHERE part = 'checkpoint'; DELETE FROM invocations WHERE seq <= 2",
  )
  expect(await store.invocations.verify()).toMatchObject({
    ok: false,
    problem: expect.stringMatching(/checkpoint/),
  })
  await expect(store.invocations.prune(1e12)).rejects.toMatchObject({ code: 'STORE_DAMAGED' })
})

test('another key verifies nothing', async () => {
  const file = join(temporary(), 'busbar.db')
  await withRows(6, KEY, file)
  const other = await openStore({ file, sealKey: 'another key', onTrouble: () => {} })
  onTestFinished(() => other.close())
  expect(await other.invocations.verify()).toMatchObject({
    ok: false,
    problem: expect.stringMatching(/the key is another/),
  })
})
