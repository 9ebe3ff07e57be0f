import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type Places, placesOf } from '../../base/places.ts'
import { openLedger, reapDeadOwners } from './ledger.ts'
import { newMarker } from './marker.ts'
import { marked, stage, temporaryFolder, until } from './staging.ts'
import { type BuiltOwner, buildOwner } from './staging-build.ts'
import { findProcess, startOf } from './table.ts'

let owner: BuiltOwner
beforeAll(async () => {
  owner = await buildOwner()
})
afterAll(() => owner.remove())

// A stubborn server with one process in its group and one that escaped from it.
const TREE = {
  command: 'sh',
  args: ['-c', 'trap "" TERM; (setsid sleep 60 &); sleep 60 & echo $$; while :; do sleep 1; done'],
}
const BOOT = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
const ORIGIN = `${BOOT} ${readlinkSync('/proc/self/ns/pid')}`

function records(home: string): string[] {
  const folder = join(home, 'busbar', 'state', 'processes')
  return existsSync(folder) ? readdirSync(folder) : []
}

function placesIn(home: string): Places {
  return placesOf({ HOME: home, BUSBAR_HOME: join(home, 'busbar') })
}

/** A record as an owner that is dead now would have left it. */
function plant(home: string, lines: unknown[], name = '999999999.1.0123456789abcdef'): string {
  const folder = join(home, 'busbar', 'state', 'processes')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  writeFileSync(join(folder, name), lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  return join(folder, name)
}

async function bystander(env: Record<string, string> = {}): Promise<{ pid: number; started: number }> {
  const child = spawn('sleep', ['60'], { stdio: 'ignore', detached: true, env })
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child, 'spawn')
  return { pid: child.pid ?? 0, started: startOf(child.pid ?? 0) ?? 0 }
}

test('a server is on record while it runs, and not after', async (scope) => {
  const home = temporaryFolder(scope)
  const { server, marker } = await stage(scope, 'cat', [], {
    ledger: openLedger(placesIn(home)),
    server: 'files',
  })
  expect(records(home)).toEqual([marker])
  expect(await reapDeadOwners(placesIn(home))).toEqual([])
  expect(records(home)).toEqual([marker])
  expect(server.exit).toBeUndefined()
  await server.close()
  expect(records(home)).toEqual([])
})

test('a server that cannot be started, and one that ends by itself, leave no record', async (scope) => {
  const home = temporaryFolder(scope)
  const ledger = openLedger(placesIn(home))
  await expect(stage(scope, 'true', ['x'.repeat(3_000_000)], { ledger })).rejects.toMatchObject({
    code: 'SPAWN_FAILED',
  })
  expect(records(home)).toEqual([])
  await stage(scope, 'true', [], { ledger })
  await until(() => records(home).length === 0)
})

test('after kill -9 of its owner the next start ends all of a server, and says so', async (scope) => {
  const home = temporaryFolder(scope)
  const left = await owner.run(home, { ending: 'wait', ...TREE })
  await left.kill()
  expect(marked(left.marker).length).toBeGreaterThanOrEqual(3)
  const start = performance.now()
  const reaped = await reapDeadOwners(placesIn(home))
  expect(performance.now() - start).toBeLessThan(3000)
  expect(marked(left.marker)).toEqual([])
  expect(reaped).toMatchObject([{ server: 'staged' }])
  expect(reaped[0]?.pids).toContain(Number(left.said))
  expect(records(home)).toEqual([])
  expect(await reapDeadOwners(placesIn(home))).toEqual([])
})

test('servers of living owners are left alone, also when two others start at once', async (scope) => {
  const home = temporaryFolder(scope)
  const [living, dead] = await Promise.all([
    owner.run(home, { ending: 'wait', ...TREE }),
    owner.run(home, { ending: 'wait', ...TREE }),
  ])
  await dead.kill()
  const told = await Promise.all([reapDeadOwners(placesIn(home)), reapDeadOwners(placesIn(home))])
  expect(told.flat().map(({ server }) => server)).toContain('staged')
  expect(marked(dead.marker)).toEqual([])
  expect(marked(living.marker).length).toBeGreaterThanOrEqual(3)
  expect(records(home)).toEqual([living.marker])
  await living.kill()
  await reapDeadOwners(placesIn(home))
  expect(marked(living.marker)).toEqual([])
})

test.for(['exit', 'throw'] as const)(
  'an owner that ends by %s leaves nothing running',
  async (ending, scope) => {
    const left = await owner.run(temporaryFolder(scope), { ending, ...TREE })
    expect(await left.ended).toEqual({ code: ending === 'exit' ? 0 : 1, signal: null })
    await until(() => marked(left.marker).length === 0, 1000)
  },
)

test('an owner whose last work is closing a slow server does that and ends well', async (scope) => {
  const args = ['-c', 'echo here; exec sleep 60']
  const left = await owner.run(temporaryFolder(scope), { ending: 'close', command: 'sh', args })
  expect(await left.ended).toEqual({ code: 0, signal: null })
  expect(marked(left.marker)).toEqual([])
})

test('a server gets files 0, 1 and 2 only, whatever its owner was given', async (scope) => {
  const file = openSync('/etc/passwd', 'r')
  onTestFinished(() => closeSync(file))
  const task = { ending: 'close', command: 'ls', args: ['-m', '/proc/self/fd'] } as const
  // The fourth is the folder it lists.
  expect(await owner.run(temporaryFolder(scope), task, file)).toMatchObject({ said: '0, 1, 2, 3' })
})

test('a number that was given to another process is never killed', async (scope) => {
  const home = temporaryFolder(scope)
  const { pid, started } = await bystander()
  const record = plant(home, [
    { server: 'old', origin: ORIGIN },
    { pid, started: started - 1 },
  ])
  expect(await reapDeadOwners(placesIn(home))).toEqual([])
  expect(findProcess(pid)).toBeDefined()
  expect(existsSync(record)).toBe(false)
})

test('the very process of a record is killed, even without its mark', async (scope) => {
  const home = temporaryFolder(scope)
  const leader = await bystander()
  plant(home, [{ server: 'old', origin: ORIGIN }, leader])
  expect(await reapDeadOwners(placesIn(home))).toEqual([{ server: 'old', pids: [leader.pid] }])
  expect(findProcess(leader.pid)).toBeUndefined()
})

test('a record of another boot or container kills nothing, and goes when it is old', async (scope) => {
  const home = temporaryFolder(scope)
  const leader = await bystander()
  const record = plant(home, [{ server: 'old', origin: 'another boot' }, leader])
  expect(await reapDeadOwners(placesIn(home))).toEqual([])
  expect(existsSync(record)).toBe(true)
  utimesSync(record, 0, 0)
  expect(await reapDeadOwners(placesIn(home))).toEqual([])
  expect(existsSync(record)).toBe(false)
  expect(findProcess(leader.pid)).toBeDefined()
})

test('half a record names nothing that was started, and foreign files are not touched', async (scope) => {
  const home = temporaryFolder(scope)
  const half = plant(home, [])
  const foreign = plant(home, [{ server: 'x', origin: ORIGIN }], 'notes.txt')
  expect(await reapDeadOwners(placesIn(home))).toEqual([])
  expect([existsSync(half), existsSync(foreign)]).toEqual([false, true])
})

test('a record without its second line still leads to the server by its mark', async (scope) => {
  const home = temporaryFolder(scope)
  const marker = newMarker().replace(/^\d+/, '999999999')
  const { pid } = await bystander({ BUSBAR_MARK: marker })
  plant(home, [{ server: 'quick', origin: ORIGIN }], marker)
  expect(await reapDeadOwners(placesIn(home))).toEqual([{ server: 'quick', pids: [pid] }])
})

test('a folder that others may write to is refused', async (scope) => {
  const home = temporaryFolder(scope)
  chmodSync(dirname(plant(home, [])), 0o777)
  await expect(reapDeadOwners(placesIn(home))).rejects.toMatchObject({ code: 'STATE_REFUSED' })
})
