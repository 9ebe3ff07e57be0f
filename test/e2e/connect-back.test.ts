// `busbar connect CLIENT --undo` after somebody else's hand was in the file: nothing of theirs is lost, and what is said holds.

import { appendFileSync, existsSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { serverCommand } from '../servers/start.ts'
import { Sandbox } from './cli.ts'
import { userFile } from './hub.ts'

/** A home with an agent, and a file of a client; `connect` and `undo` are of that client. */
function connected(client: string, path: string, text: string | undefined) {
  const sandbox = new Sandbox()
  const agents = { ada: { servers: ['plain'] } }
  sandbox.write(userFile(sandbox), JSON.stringify({ servers: { plain: serverCommand('plain') }, agents }))
  const file = join(sandbox.home, path)
  if (text !== undefined) sandbox.write(file, text)
  const run = async (...words: string[]) => {
    const done = await sandbox.run(['connect', client, '--yes', ...words])
    expect([done.code, done.stderr]).toEqual([0, expect.any(String)])
    return done
  }
  return {
    sandbox,
    file,
    read: () => sandbox.read(file),
    connect: () => run('--agent', 'ada'),
    undo: (...words: string[]) => run('--undo', ...words),
    backups: () => readdirSync(join(sandbox.home, '.local/state/busbar/client-backups')),
  }
}

const PRECIOUS = '{"precious": 1}\n'

for (const [gone, path] of [
  ['file', '.cursor/mcp.json'],
  ['folder', '.cursor'],
] as const)
  test(`[C11] a client's ${gone} that vanished comes back as it was`, async () => {
    const { sandbox, read, connect, undo, backups } = connected('cursor', '.cursor/mcp.json', PRECIOUS)
    await connect()
    rmSync(join(sandbox.home, path), { recursive: true })
    const shown = await undo('--dry-run', '--json')
    expect(shown.json).toMatchObject({ exact: true, written: false })
    expect(backups()).toHaveLength(1)
    const { stdout, stderr } = await undo()
    expect(stdout).toContain('has its file back as it was.')
    expect(stderr).toContain('The file is gone, and is made again.')
    expect(stderr).not.toContain('made for this')
    expect(stdout).toContain('The token is revoked.')
    expect(read()).toBe(PRECIOUS)
    expect(backups()).toEqual([])
  })

test('[C11] connecting again after the file vanished keeps the only copy of what it was', async () => {
  const { file, read, connect, undo } = connected('cursor', '.cursor/mcp.json', PRECIOUS)
  await connect()
  rmSync(file)
  await connect()
  expect((await undo('--json')).json).toMatchObject({ exact: true, revoked: 1 })
  expect(read()).toBe(PRECIOUS)
})

test('[C11] a file that was made for us and vanished is not made again, nor called removed', async () => {
  const { file, connect, undo } = connected('cursor', '.cursor/mcp.json', undefined)
  await connect()
  rmSync(file)
  const { stdout, stderr } = await undo()
  expect(stdout).toContain('The file of Cursor was gone already.')
  expect(stderr).not.toContain('removed')
  expect(existsSync(join(file, '..'))).toBe(false)
})

test('[C11] connected again after a change, all that we added goes, and nobody says it is as it was', async () => {
  for (const text of ['{\n  "a": 1\n}\n', undefined]) {
    const { file, read, connect, undo } = connected('cursor', '.cursor/mcp.json', text)
    await connect()
    writeFileSync(file, read().replace('{', '{\n  "new": 2,'))
    await connect()
    await connect()
    const { stdout } = await undo()
    expect(stdout).toContain('Busbar is out of the file of Cursor; what else was changed there stays.')
    expect(stdout).not.toContain('as it was')
    expect(JSON.parse(read())).toEqual({ ...(text === undefined ? {} : { a: 1 }), new: 2 })
  }
})

test('[C11] comments behind our entry in TOML stay when it comes again and when it goes', async () => {
  const { file, read, connect, undo } = connected('codex', '.codex/config.toml', 'model = "x"\n')
  const notes = '\n# my notes about x\n[profiles.x]\nmodel = "y"\n# [mcp_servers.old]\n# url = "http://old"\n'
  await connect()
  appendFileSync(file, notes)
  await connect()
  expect(read().endsWith(notes)).toBe(true)
  appendFileSync(file, '# last')
  await undo()
  expect(read()).toBe(`model = "x"\n${notes}# last`)
})

test('[C11] the token of a client whose file has another name by now is revoked, whoever it is of', async () => {
  const { sandbox, file, connect, undo } = connected('opencode', '.config/opencode/opencode.json', '{}\n')
  await connect()
  renameSync(file, `${file}c`)
  expect((await undo()).stdout).toContain('The token is revoked.')
  const { stdout } = await sandbox.run(['agents', 'token', 'ada', '--list', '--json'])
  expect(JSON.parse(stdout).tokens).toMatchObject([{ state: 'revoked' }])
})

test('[C11] doctor names the agent of a client that goes to a wrong address', async () => {
  const { file, sandbox, read, connect } = connected('cursor', '.cursor/mcp.json', '{}')
  await connect()
  writeFileSync(file, read().replace(':4747/', ':4999/'))
  const { json } = await sandbox.run(['doctor', '--no-start', '--json'])
  const found = json.findings.find((it: { check: string }) => it.check === 'client-address')
  expect(found.fix).toBe('busbar connect cursor --agent ada')
})
