import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { placesOf } from '../base/places.ts'
import { parseEnvFile } from './env-file.ts'
import { loadConfig } from './load.ts'
import type { Snapshot } from './snapshot.ts'
import { missingOf, missingWarnings, reportServer, resolveServer } from './status.ts'

async function load(config: object, env: Record<string, string> = {}): Promise<Snapshot> {
  const folder = mkdtempSync(join(tmpdir(), 'busbar-status-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'busbar.json'), JSON.stringify(config))
  writeFileSync(
    join(folder, 'some.env'),
    '# c\nexport A="from file" # c\nB=two words\nC=\'x\'\nK=file\nNODE_OPTIONS=--require ./evil.js\n',
  )
  const all = { HOME: folder, ...env }
  return await loadConfig({
    cwd: folder,
    env: all,
    places: { ...placesOf(all), managed: join(folder, 'none') },
  })
}

function entry(snapshot: Snapshot, name: string) {
  const found = snapshot.servers.get(name)
  if (!found) throw new Error(`no ${name}`)
  return found
}

test('[A3] a server resolves to command, args and env with every variable filled in', async () => {
  const snapshot = await load(
    { servers: { a: { command: '${BIN}', args: ['--dir', '${workspaceFolder}'], env: { T: '${T}' } } } },
    { BIN: 'npx', T: 'secret' },
  )
  const resolved = resolveServer(entry(snapshot, 'a'), snapshot)
  expect(resolved).toMatchObject({
    ok: true,
    value: { command: 'npx', args: ['--dir', snapshot.root], env: { T: 'secret' } },
  })
})

test('[A3] a server that lacks a variable does not resolve, and never to an empty token', async () => {
  const snapshot = await load({ servers: { a: { command: 'x', env: { T: '${T}', U: '${U}' } } } }, { T: '' })
  expect(resolveServer(entry(snapshot, 'a'), snapshot)).toEqual({ ok: false, missing: ['T', 'U'] })
})

test('[A4] asking whether it resolves says nothing, however often; the warning is there once', async () => {
  const snapshot = await load({ servers: { a: { command: 'x', env: { T: '${T}' } } } })
  for (let index = 0; index < 3; index++) {
    expect(missingOf(entry(snapshot, 'a'), snapshot)).toEqual(['T'])
    expect(reportServer(entry(snapshot, 'a'), snapshot).status).toBe('failed')
  }
  expect(missingWarnings(snapshot)).toHaveLength(1)
})

test('[A3] an envFile is read when the server is resolved, env goes before it, and a missing one skips the server', async () => {
  const snapshot = await load({
    servers: {
      a: { command: 'x', envFile: '${workspaceFolder}/some.env', env: { K: 'own' } },
      b: { command: 'x', envFile: 'nowhere.env' },
    },
  })
  expect(resolveServer(entry(snapshot, 'a'), snapshot)).toMatchObject({
    ok: true,
    value: { env: { A: 'from file', B: 'two words', C: 'x', K: 'own' } },
  })
  expect(JSON.stringify(resolveServer(entry(snapshot, 'a'), snapshot))).not.toContain('evil')
  expect(reportServer(entry(snapshot, 'a'), snapshot).status).toBe('pending')
  expect(resolveServer(entry(snapshot, 'b'), snapshot)).toEqual({
    ok: false,
    missing: ['envFile nowhere.env'],
  })
  expect(reportServer(entry(snapshot, 'b'), snapshot)).toMatchObject({
    status: 'failed',
    missing: ['envFile nowhere.env'],
  })
  expect(missingWarnings(snapshot)[0]?.message).toBe('b is skipped: envFile nowhere.env does not exist')
})

test('lines of an env file', () => {
  expect(parseEnvFile('A=1\r\n B = 2 \n#C=3\nnonsense\nD="a\\"b\\nc"\nE=a#b\nF=\n1X=2')).toEqual({
    A: '1',
    B: '2',
    D: 'a"b\nc',
    E: 'a#b',
    F: '',
  })
})
