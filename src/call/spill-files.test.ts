import { mkdtempSync, readdirSync, rmSync, statSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { changes } from '../base/changes.ts'
import { TestClock } from '../base/test-clock.ts'
import { tried } from '../base/thorough.ts'
import { SPILL_BOUNDS, type SpillBounds, SpillFiles } from './spill-files.ts'

function open(bounds: Partial<SpillBounds> = {}) {
  const root = mkdtempSync(join(tmpdir(), 'busbar-spill-'))
  const folder = join(root, 'results')
  const clock = new TestClock()
  const files = new SpillFiles(folder, { ...SPILL_BOUNDS, ...bounds }, () => clock.wall())
  onTestFinished(() => {
    files.close()
    rmSync(root, { recursive: true, force: true })
  })
  const paths = () =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.txt'))
      .map((name) => join(folder, name))
  /** Keeps a text as of now. */
  const keep = (agent: string, text: string) => {
    const kept = files.keep(agent, text)
    const path = paths().find((one) => one.includes(kept.id)) ?? ''
    utimesSync(path, clock.wall() / 1000, clock.wall() / 1000)
    return { ...kept, path }
  }
  return { files, clock, keep, paths, folder }
}

test('a text is read page by page, and by nobody else', () => {
  const { files, keep } = open()
  const { id, size } = keep('ada', 'abcdefghij')
  expect(size).toBe(10)
  expect(files.read('ada', id, 0, 4)).toEqual({ text: 'abcd', start: 0, end: 4, size: 10 })
  expect(files.read('ada', id, 4, 100)).toEqual({ text: 'efghij', start: 4, end: 10, size: 10 })
  expect(files.read('ada', id, 99, 4)).toEqual({ text: '', start: 10, end: 10, size: 10 })
  for (const other of ['bob', 'Ada', '', 'ada/worker']) expect(files.read(other, id, 0, 4)).toBeUndefined()
  for (const wrong of [
    '',
    '../x',
    `../${id}`,
    `${id}/`,
    id.toUpperCase() === id ? 'x' : id.toUpperCase(),
    'ffffffffffff',
  ])
    expect(files.read('ada', wrong, 0, 4)).toBeUndefined()
})

test('files are their owner’s alone', () => {
  const { keep, folder } = open()
  const { path } = keep('ada', 'text')
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(statSync(folder).mode & 0o777).toBe(0o700)
})

test('pages are cut between characters, and together are the text', () => {
  const { files, keep } = open()
  fc.assert(
    fc.property(
      // The character that stands for half of one may also be said.
      fc
        .string({ unit: 'grapheme', minLength: 1, maxLength: 60 })
        .map((text) => text.replaceAll('\ufffd', '?')),
      fc.integer({ min: 1, max: 9 }),
      (text, limit) => {
        const { id, size } = keep('ada', text)
        let read = ''
        for (let at = 0; at < size; ) {
          const page = files.read('ada', id, at, limit)
          if (page === undefined || page.end <= at) throw new Error('no way on')
          expect(page.start).toBe(at)
          expect(page.text).not.toContain('\ufffd')
          read += page.text
          at = page.end
        }
        expect(read).toBe(text)
      },
    ),
    { numRuns: tried(200) },
  )
})

test('an offset inside a character begins with the next one', () => {
  const { files, keep } = open()
  const { id } = keep('ada', 'a🚌b')
  for (const offset of [2, 3, 4])
    expect(files.read('ada', id, offset, 9)).toEqual({ text: 'b', start: 5, end: 6, size: 6 })
  expect(files.read('ada', id, 1, 1)).toMatchObject({ text: '🚌', end: 5 })
})

test('what is too old is gone, also for who never comes back', () => {
  const { files, clock, keep, paths } = open()
  const { id } = keep('ada', 'text')
  keep('bob', 'his')
  const { count } = changes
  clock.pass(SPILL_BOUNDS.age)
  expect(files.read('ada', id, 0, 4)).toBeDefined()
  clock.pass(1_000)
  expect(files.read('ada', id, 0, 4)).toBeUndefined()
  files.sweep()
  expect(paths()).toEqual([])
  expect(files.has('ada')).toBe(false)
  expect(changes.count).toBeGreaterThan(count)
})

test('bounded in number and in bytes, the oldest first, each agent for itself', () => {
  const { files, clock, keep } = open({ files: 3, bytes: 100 })
  const his = keep('bob', 'x'.repeat(90))
  const ids: string[] = []
  for (let count = 0; count < 5; count++) {
    clock.pass(1_000)
    ids.push(keep('ada', `${count}`).id)
  }
  const kept = () => ids.map((id) => files.read('ada', id, 0, 4)?.text)
  expect(kept()).toEqual([undefined, undefined, '2', '3', '4'])
  clock.pass(1_000)
  ids.push(keep('ada', 'y'.repeat(99)).id)
  expect(kept()).toEqual([undefined, undefined, undefined, undefined, '4', 'yyyy'])
  expect(files.read('bob', his.id, 0, 4)).toBeDefined()
  // Of one that is larger than everything, the beginning.
  clock.pass(1_000)
  const { size } = keep('ada', '🚌'.repeat(50))
  expect(size).toBe(100)
})

test('what was kept before is known after a restart', () => {
  const { files, keep, folder } = open()
  expect(files.has('ada')).toBe(false)
  const { count } = changes
  keep('ada', 'text')
  expect(files.has('ada')).toBe(true)
  expect(changes.count).toBe(count + 1)
  expect(new SpillFiles(folder).has('ada')).toBe(true)
  expect(new SpillFiles(folder).has('bob')).toBe(false)
})
