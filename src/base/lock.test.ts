import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { withLock } from './lock.ts'
import { writeFileAtomic } from './write-file.ts'

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'busbar-lock-'))
  onTestFinished(() => rmSync(made, { recursive: true, force: true }))
  return made
}

test('one holder at a time, also within a process, and nothing is left behind', async () => {
  const path = join(folder(), 'lock')
  let inside = 0
  let most = 0
  const work = async () => {
    most = Math.max(most, ++inside)
    await new Promise((resolve) => setImmediate(resolve))
    inside--
  }
  await Promise.all(Array.from({ length: 20 }, () => withLock(path, work)))
  expect(most).toBe(1)
  expect(readdirSync(join(path, '..'))).toEqual([])
})

test('the lock is given back when the work fails', async () => {
  const path = join(folder(), 'lock')
  await expect(
    withLock(path, () => {
      throw new Error('no')
    }),
  ).rejects.toThrow('no')
  expect(existsSync(path)).toBe(false)
})

test('a dead owner, and an owner whose number was given to another process, hold nothing', async () => {
  const path = join(folder(), 'lock')
  for (const owner of ['999999999 1', `${process.ppid} 1`, 'nonsense', '']) {
    writeFileSync(path, owner)
    expect(await withLock(path, () => 'in')).toBe('in')
  }
})

test('a living owner is waited for, told about once, and then complained about', async () => {
  const path = join(folder(), 'lock')
  writeFileSync(path, `${process.ppid} `)
  const told: string[] = []
  const waiting = withLock(path, () => 'in', { timeoutMs: 700, onWait: (owner) => told.push(owner) })
  await expect(waiting).rejects.toMatchObject({ code: 'CONFIG_LOCKED' })
  expect(told).toEqual([String(process.ppid)])
  expect(readFileSync(path, 'utf8')).toBe(`${process.ppid} `)
})

test('waiting can be cancelled', async () => {
  const path = join(folder(), 'lock')
  writeFileSync(path, `${process.ppid} `)
  const stop = new AbortController()
  const waiting = withLock(path, () => 'in', { signal: stop.signal })
  stop.abort()
  await expect(waiting).rejects.toMatchObject({ name: 'AbortError' })
})

test('a file is replaced whole, keeps its mode, and drafts of dead writers are cleared away', () => {
  const file = join(folder(), 'a.yaml')
  writeFileAtomic(file, 'one', { mode: 0o600 })
  expect(statSync(file).mode & 0o777).toBe(0o600)
  writeFileSync(join(file, '..', '.a.yaml.busbar-999999999'), 'half')
  writeFileAtomic(file, 'two')
  expect(readFileSync(file, 'utf8')).toBe('two')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(readdirSync(join(file, '..'))).toEqual(['a.yaml'])
})
