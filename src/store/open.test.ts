// The file of the store: made, brought up to date, refused, moved aside.

import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { MIGRATIONS } from './migrations.ts'
import { openStore } from './open.ts'
import { Connection } from './sqlite-connection.ts'
import { loadDriver } from './sqlite-driver.ts'
import type { Store } from './store.ts'
import { invocation } from './suite-invocations.ts'
import { KEY, raw, temporary } from './suite-sqlite.ts'

const trouble: string[] = []
const onTrouble = (message: string) => trouble.push(message)

async function open(file: string, migrations?: readonly string[]): Promise<Store> {
  trouble.length = 0
  const store = await openStore({ file, sealKey: KEY, onTrouble }, migrations)
  onTestFinished(() => store.close())
  return store
}

/** A store with one rule and rows enough for several pages. */
async function filled(): Promise<string> {
  const file = join(temporary(), 'busbar.db')
  const store = await open(file)
  await store.rules.add({ id: 'r', server: 's', decision: 'ask', createdAt: 1 })
  const rows = Array.from({ length: 500 }, (_, index) => invocation(`i${index}`, { result: 'x'.repeat(200) }))
  await store.invocations.append(rows)
  await store.close()
  // A copy, because the driver may still hold the file; see SqliteStore.close.
  const copy = join(temporary(), 'busbar.db')
  copyFileSync(file, copy)
  return copy
}

/** What is in the file's folder, but for what SQLite keeps there while a file is open. */
function beside(file: string): string[] {
  return readdirSync(join(file, '..'))
    .filter((name) => !/-(?:wal|shm)$/.test(name))
    .toSorted()
}

test('every file of a new store is its owner’s alone, and nothing is left beside it', async () => {
  const file = join(temporary(), 'new', 'busbar.db')
  const store = await open(file)
  await store.invocations.append([invocation('a')])
  for (const name of readdirSync(join(file, '..')))
    expect([name, statSync(join(file, '..', name)).mode & 0o777]).toEqual([name, 0o600])
  await store.close()
  expect(beside(file)).toEqual(['busbar.db'])
  expect(trouble).toEqual([])
})

test('a file that others can read becomes private, one that others can write is refused', async () => {
  const file = await filled()
  chmodSync(file, 0o644)
  await (await open(file)).close()
  expect(statSync(file).mode & 0o777).toBe(0o600)
  chmodSync(file, 0o666)
  await expect(open(file)).rejects.toMatchObject({ code: 'STATE_REFUSED' })
})

const KNOWN = MIGRATIONS.length
const NEXT = 'ALTER TABLE rules ADD COLUMN colour TEXT; CREATE TABLE extra (x INTEGER) STRICT;'

test('an older file is copied, then brought up to date', async () => {
  const file = await filled()
  const store = await open(file, [...MIGRATIONS, NEXT])
  expect(await store.rules.list()).toHaveLength(1)
  expect(await store.invocations.verify()).toEqual({ ok: true, rows: 500 })
  await store.close()
  const version = (name: string) => raw(name, (database) => database.prepare('PRAGMA user_version').get())
  const copy = `${file}.backup-v${KNOWN}`
  expect(await version(file)).toEqual({ user_version: KNOWN + 1 })
  expect(await version(copy)).toEqual({ user_version: KNOWN })
  expect(statSync(copy).mode & 0o777).toBe(0o600)
  // The copy is a store: put back, the older version uses it.
  const back = await open(copy)
  expect(await back.invocations.verify()).toEqual({ ok: true, rows: 500 })
})

test('rules of a version that bound them to no server are kept, and bound to none [D11]', async () => {
  const file = join(temporary(), 'busbar.db')
  await (await open(file, MIGRATIONS.slice(0, 4))).close()
  const values = "('r', 'cto', 's', NULL, 'allow', 1, 'ann')"
  await raw(file, (database) => database.exec(`INSERT INTO rules VALUES ${values}`))
  const store = await open(file)
  const old = { id: 'r', agent: 'cto', server: 's', decision: 'allow', createdAt: 1, note: 'ann' } as const
  expect(await store.rules.list()).toEqual([old])
  await store.rules.add({ ...old, id: 'n', identity: 'i', createdAt: 2 })
  expect((await store.rules.list()).map(({ identity }) => identity)).toEqual([undefined, 'i'])
})

test('a file of the first version keeps every row and gets an empty ledger [D16]', async () => {
  const file = join(temporary(), 'busbar.db')
  const first = await open(file, MIGRATIONS.slice(0, 1))
  const rows = Array.from({ length: 300 }, (_, index) => invocation(`i${index}`))
  await first.invocations.append(rows)
  await first.close()
  const store = await open(file)
  expect(trouble).toEqual([])
  expect(await store.invocations.verify()).toEqual({ ok: true, rows: 300 })
  expect(await store.energy.accounts()).toEqual([])
  await store.energy.configure(new Map([['cto', { capacity: 10, recovery: 0 }]]))
  await store.invocations.append([...rows, invocation('new', { energy: 2 })])
  expect(await store.energy.account('cto')).toMatchObject({ level: 8 })
  expect(await store.invocations.verify()).toEqual({ ok: true, rows: 301 })
})

test('a migration that fails leaves the file as it was', async () => {
  const file = await filled()
  await expect(open(file, [...MIGRATIONS, NEXT, 'CREATE TABLE broken (; '])).rejects.toThrow()
  // Each step is whole: the first was done, the second not begun.
  await expect(open(file)).rejects.toMatchObject({ code: 'STORE_NEWER' })
  const store = await open(file, [...MIGRATIONS, NEXT])
  expect(await store.rules.list()).toHaveLength(1)
})

test('a newer file is refused and not changed', async () => {
  const file = await filled()
  await (await open(file, [...MIGRATIONS, NEXT])).close()
  const before = readFileSync(file)
  await expect(open(file)).rejects.toMatchObject({
    code: 'STORE_NEWER',
    message: expect.stringContaining(`version ${KNOWN + 1}, and this Busbar knows ${KNOWN}`),
  })
  expect(readFileSync(file).equals(before)).toBe(true)
  expect(beside(file)).toEqual(['busbar.db', `busbar.db.backup-v${KNOWN}`])
})

test.each([
  ['text', (file: string) => writeFileSync(file, 'no database at all '.repeat(100))],
  ['nothing', (file: string) => truncateSync(file, 0)],
  ['half of it', (file: string) => truncateSync(file, 4096)],
  ['a log without its file', (file: string) => writeFileSync(`${file}-wal`, 'x')],
])('what cannot be used is moved aside and told: %s', async (_, damage) => {
  const file = _ === 'a log without its file' ? join(temporary(), 'busbar.db') : await filled()
  damage(file)
  writeFileSync(`${file}-wal`, 'an old log', { mode: 0o600 })
  const store = await open(file)
  expect(await store.rules.list()).toEqual([])
  const aside =
    readdirSync(join(file, '..')).find((name) => /\.damaged-[\dTZ.-]+(-wal)?$/.test(name)) ?? 'none'
  expect(trouble).toHaveLength(1)
  expect(trouble[0]).toContain(join(file, '..', aside.replace(/-wal$/, '')))
  expect(readdirSync(join(file, '..')).some((name) => /damaged-.*-wal$/.test(name))).toBe(true)
})

test('another program’s database is moved aside whole', async () => {
  const file = join(temporary(), 'busbar.db')
  await raw(file, (database) => database.exec('CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)'))
  chmodSync(file, 0o600)
  await open(file)
  expect(trouble[0]).toMatch(/is a database of another program: it is now .*damaged-/)
  const aside = join(file, '..', readdirSync(join(file, '..')).find((name) => name.includes('damaged')) ?? '')
  expect(await raw(aside, (database) => database.prepare('SELECT x FROM theirs').get())).toEqual({ x: 1 })
})

test('damage met while reading is a fault, and the next start moves the file aside', async () => {
  const file = await filled()
  // The last pages hold the newest rows; opening reads none of them.
  const pages = Math.floor(statSync(file).size / 4096)
  const handle = openSync(file, 'r+')
  for (let page = pages - 12; page < pages; page++)
    writeSync(handle, Buffer.alloc(4096, 0xa5), 0, 4096, page * 4096)
  closeSync(handle)
  const store = await open(file)
  expect(trouble).toEqual([])
  await expect(store.invocations.list({ limit: 1000 })).rejects.toMatchObject({ code: 'STORE_DAMAGED' })
  await expect(store.invocations.verify()).rejects.toMatchObject({ code: 'STORE_DAMAGED' })
  await store.close()
  await open(file)
  expect(trouble[0]).toMatch(/is damaged: it is now/)
  expect(existsSync(`${file}.suspect`)).toBe(false)
})

test('a file that another process keeps locked is a fault after a bounded wait', async () => {
  const file = await filled()
  const store = await open(file)
  const holder = (await loadDriver())(file)
  onTestFinished(() => holder.close())
  holder.exec('BEGIN IMMEDIATE')
  await expect(store.rules.remove('r')).rejects.toMatchObject({
    code: 'STORE_UNAVAILABLE',
    message: expect.stringMatching(/locked by another process/),
  })
  // Who only reads need not wait, and afterwards writing works again.
  expect(await store.rules.list()).toHaveLength(1)
  holder.exec('ROLLBACK')
  expect(await store.rules.remove('r')).toBe(true)
})

test('a write that waits gets its turn when the lock is given up', async () => {
  const file = await filled()
  const store = await open(file)
  const holder = (await loadDriver())(file)
  onTestFinished(() => holder.close())
  holder.exec('BEGIN IMMEDIATE')
  const removed = store.rules.remove('r')
  holder.exec('COMMIT')
  expect(await removed).toBe(true)
})

test('a file that is locked for everyone cannot be opened, which is a fault', async () => {
  const file = await filled()
  const holder = (await loadDriver())(file)
  onTestFinished(() => holder.close())
  holder.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; CREATE TABLE held (x); COMMIT')
  await expect(open(file)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
  expect(existsSync(file)).toBe(true)
})

test.each([
  ['PRAGMA max_page_count = 1', /the disk is full/],
  ['PRAGMA query_only = 1', /cannot be written/],
])('a disk that takes no more is a fault, and what was there stays: %s', async (sql, message) => {
  const file = await filled()
  const connection = new Connection((await loadDriver())(file), { file })
  onTestFinished(() => connection.close())
  await connection.exec(sql)
  const write = connection.write((session) => {
    for (let index = 0; index < 1000; index++)
      session.run('INSERT INTO rules VALUES (?, NULL, ?, NULL, ?, 1, NULL, NULL)', `n${index}`, 's', 'ask')
  })
  await expect(write).rejects.toMatchObject({
    code: 'STORE_UNAVAILABLE',
    message: expect.stringMatching(message),
  })
  expect(await connection.all('SELECT id FROM rules')).toEqual([{ id: 'r' }])
})

test('a folder that does not exist and cannot be made is a fault', async () => {
  await expect(open(join(await filled(), 'below', 'busbar.db'))).rejects.toMatchObject({
    code: 'STORE_UNAVAILABLE',
  })
})

test('several that open a new store at once share one', async () => {
  const file = join(temporary(), 'busbar.db')
  const stores = await Promise.all(
    Array.from({ length: 5 }, () => openStore({ file, sealKey: KEY, onTrouble })),
  )
  onTestFinished(async () => {
    for (const store of stores) await store.close()
  })
  await Promise.all(stores.map((store, index) => store.invocations.append([invocation(`i${index}`)])))
  expect(await stores[0]?.invocations.verify()).toEqual({ ok: true, rows: 5 })
})
