import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { newMarker, ownerOf } from './marker.ts'
import { Snapshot } from './sweep.ts'
import { findProcess, isAlive, readTable, startOf, variableOf } from './table.ts'

/** A process that is none of a server's. */
async function stranger(env: Record<string, string> = {}, name = 'sleep'): Promise<number> {
  const child = spawn('sleep', ['60'], { stdio: 'ignore', detached: true, env, argv0: name })
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child, 'spawn')
  return child.pid ?? 0
}

test('the table knows this process, its parent and nobody who ended', async () => {
  const own = readTable().get(process.pid)
  expect(own).toEqual(findProcess(process.pid))
  expect(own?.parent).toBe(process.ppid)
  expect(startOf(process.pid)).toBe(own?.started)
  const child = spawn('true', { stdio: 'ignore' })
  const { pid = 0 } = child
  const started = startOf(pid) ?? 0
  expect(started).toBeGreaterThan(own?.started ?? 0)
  await once(child, 'exit')
  expect(findProcess(pid)).toBeUndefined()
  expect(isAlive({ pid, parent: process.pid, group: 0, started })).toBe(false)
})

test('a variable is read whole and only from its own entry', async () => {
  const pid = await stranger({ OTHER: 'BUSBAR_MARK=no', BUSBAR_MARK: 'a=b c' })
  expect(variableOf(pid, 'BUSBAR_MARK')).toBe('a=b c')
  expect(variableOf(pid, 'MARK')).toBeUndefined()
  expect(variableOf(999_999_999, 'HOME')).toBeUndefined()
})

test('a mark names its owner, and nothing else is taken for one', () => {
  expect(ownerOf(newMarker())).toEqual({ pid: process.pid, started: startOf(process.pid) })
  for (const text of ['', '1.2', '1.2.xyz', '1.2.0123456789abcdef.json', '../1.2.0123456789abcdef'])
    expect(ownerOf(text)).toBeUndefined()
})

test('a group belongs to a server only while its number was not given to another process', async () => {
  const pid = await stranger()
  const started = startOf(pid) ?? 0
  const members = (leader: { pid: number; started: number }) =>
    new Snapshot().members({ leader, marker: newMarker(), since: 0 }).map((member) => member.pid)
  expect(members({ pid, started })).toEqual([pid])
  expect(members({ pid, started: started - 1 })).toEqual([])
})

test('known processes count by number and start', async () => {
  const pid = await stranger()
  const found = findProcess(pid)
  if (found === undefined) throw new Error('it ended')
  const root = { leader: undefined, marker: newMarker(), since: 0 }
  expect(new Snapshot().members(root, [found])).toEqual([found])
  expect(new Snapshot().members(root, [{ ...found, started: found.started + 1 }])).toEqual([])
})

test('this process and those above it are never among the members', () => {
  const own = findProcess(process.pid)
  const parent = findProcess(process.ppid)
  if (own === undefined || parent === undefined) throw new Error('no parent')
  const root = { leader: undefined, marker: newMarker(), since: 0 }
  expect(new Snapshot().members(root, [own, parent])).toEqual([])
})
