import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { placesOf } from '../base/places.ts'
import { graveProblems } from './grave.ts'
import { loadConfig } from './load.ts'
import type { Snapshot } from './snapshot.ts'

const USER = {
  servers: { notes: { command: 'notes' } },
  agents: { ada: { servers: ['*'], approval: 'never' } },
}

/** Reads files by where they stand: `managed`, `user`, or a name in the project. */
async function read(files: Record<string, unknown>): Promise<Snapshot> {
  const home = mkdtempSync(join(tmpdir(), 'busbar-grave-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const env = { HOME: home }
  const places = { ...placesOf(env), managed: join(home, 'managed.yaml') }
  for (const [name, content] of Object.entries(files)) {
    const user = join(places.config, 'config.yaml')
    const file = name === 'managed' ? places.managed : name === 'user' ? user : join(home, 'project', name)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
  }
  return await loadConfig({ cwd: join(home, 'project'), env, places })
}

test('[C3][C11] an agent that is bad in one file of ours is left out of all, and its servers are not everybody’s', async () => {
  const snapshot = await read({ user: USER, managed: { agents: { ada: { approval: 'alway' } } } })
  expect(graveProblems(snapshot)).toEqual([])
  expect(Object.keys(snapshot.config.agents)).toEqual([])
  expect([...snapshot.starts]).toEqual([])
})

test('[C3][C11] an agent that is bad in a file nobody trusts takes no other away', async () => {
  const snapshot = await read({ user: USER, 'busbar.yaml': { agents: { ada: { approval: 'alway' } } } })
  expect(graveProblems(snapshot)).toEqual([])
  expect(Object.keys(snapshot.config.agents)).toEqual(['ada'])
})

const GRAVE: [string, Record<string, unknown>, string[]][] = [
  ['nothing wrong', { user: USER }, []],
  ['a bad server anywhere', { user: USER, managed: { servers: { x: { command: 5 } } } }, []],
  ['a bad managed section', { user: USER, managed: { defaults: { approval: 5 } } }, ['defaults.approval']],
  ['a managed file that is no map', { user: USER, managed: 'x' }, ['']],
  ['managed agents that are no map', { user: USER, managed: { agents: 5 } }, ['agents']],
  ['an unknown name', { user: { ...USER, defaults: { servers: ['nots'] } } }, []],
  ['a file of ours that extends nothing', { user: { ...USER, extends: 'absent.yaml' } }, ['extends']],
  ['a file of nobody’s that does', { user: USER, 'busbar.yaml': { extends: 'absent.yaml' } }, []],
  ['a file of nobody’s that does not parse', { user: USER, 'busbar.yaml': '[' }, []],
]

for (const [title, files, grave] of GRAVE)
  test(`[C3] ${title} keeps ${grave.length === 0 ? 'nothing' : 'everything'} from starting`, async () => {
    const found = graveProblems(await read(files))
    expect(found.map(({ path = '' }) => path)).toEqual(grave)
  })
