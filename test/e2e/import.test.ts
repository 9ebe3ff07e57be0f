// Taking over what other tools have on this machine.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Answer, Sandbox } from './cli.ts'

function machine(): Sandbox {
  const sandbox = new Sandbox()
  const home = (path: string) => join(sandbox.home, path)
  sandbox.write(
    home('.claude.json'),
    JSON.stringify({
      numStartups: 5,
      mcpServers: {
        github: { command: 'npx', args: ['-y', 'gh'], env: { GITHUB_TOKEN: 'ghp_abcdefghijklmnopqrstuvwx' } },
      },
      projects: {
        [sandbox.project]: { mcpServers: { local: { type: 'http', url: 'https://example.com/l' } } },
      },
    }),
  )
  sandbox.write(
    home('.cursor/mcp.json'),
    '{"mcpServers": {"github": {"command": "npx", "args": ["-y", "other"]}, "docs": {"url": "https://example.com/mcp"}}}',
  )
  sandbox.write(home('.codex/config.toml'), '[mcp_servers.db]\ncommand = "db"\nenv_vars = ["DB_URL"]\n')
  sandbox.write(
    home('.config/goose/config.yaml'),
    'extensions:\n  developer: { type: builtin, enabled: true }\n  notes: { type: stdio, cmd: notes, args: [], enabled: true }\n',
  )
  sandbox.write(home('.gemini/settings.json'), '{broken')
  sandbox.write(
    '.vscode/mcp.json',
    '{"inputs": [{"id": "k", "type": "promptString"}], "servers": {"vs": {"type": "stdio", "command": "code", "env": {"K": "${input:k}"}}}}',
  )
  return sandbox
}

test('[C3] import --dry-run shows what is there and writes nothing', async () => {
  const sandbox = machine()
  const result = await sandbox.run(['import', '--dry-run', '--json'])
  expect(result.code).toBe(0)
  expect(
    result.json.found.map((it: Answer) => [it.name, it.client, it.transport, it.scope, it.state]),
  ).toEqual([
    ['github', 'Claude Code', 'stdio', 'user', 'new'],
    ['local', 'Claude Code', 'http', 'user', 'new'],
    ['github-cursor', 'Cursor', 'stdio', 'user', 'new'],
    ['docs', 'Cursor', 'http', 'user', 'new'],
    ['vs', 'VS Code', 'stdio', 'project', 'new'],
    ['db', 'Codex', 'stdio', 'user', 'new'],
    ['notes', 'Goose', 'stdio', 'user', 'new'],
  ])
  expect(result.json.warnings.join()).toContain('settings.json')
  expect(result.stdout).not.toContain('ghp_abcdefghij')
  expect(sandbox.exists('busbar.yaml')).toBe(false)
  const people = await sandbox.run(['import', '--dry-run'])
  expect(people.stderr).toContain('npx -y gh')
})

test('[C3] import asks, and without a terminal the answer is no', async () => {
  const sandbox = machine()
  const result = await sandbox.run(['import', 'codex'])
  expect(result.code).toBe(1)
  expect(result.stderr).toContain('--yes')
  expect(sandbox.exists(join(sandbox.home, '.config/busbar/config.yaml'))).toBe(false)
})

test('[C3] import --yes writes once, to the scope it came from, and says what is here already the next time', async () => {
  const sandbox = machine()
  const first = await sandbox.run(['import', '--yes', '--json'])
  expect(first.code).toBe(0)
  expect(first.json.imported).toHaveLength(7)
  const rows = (await sandbox.run(['list', '--json'], { env: { DB_URL: 'x', BUSBAR_INPUT_K: 'y' } })).json
    .servers
  expect(rows.map((row: Answer) => [row.name, row.scope, row.status, row.trusted])).toEqual([
    ['github', 'user', 'pending', true],
    ['local', 'user', 'pending', true],
    ['github-cursor', 'user', 'pending', true],
    ['docs', 'user', 'pending', true],
    ['db', 'user', 'pending', true],
    ['notes', 'user', 'pending', true],
    ['vs', 'project', 'pending', true],
  ])
  const again = await sandbox.run(['import', '--yes', '--json'])
  expect(again.json.imported).toEqual([])
})

test('[C3] import of a file or a client; an unknown one is named with what was meant', async () => {
  const sandbox = machine()
  sandbox.write('theirs.json', '{"mcpServers": {"my server/x": {"command": "x"}}}')
  const file = await sandbox.run(['import', 'theirs.json', '--yes', '--json'])
  expect(file.json.imported).toEqual(['my-server-x'])
  expect(sandbox.read('busbar.yaml')).toContain('my-server-x:')
  const wrong = await sandbox.run(['import', 'cursr', '--json'])
  expect(wrong.code).toBe(1)
  expect(wrong.error.hint).toContain('busbar import cursor')
})

test('[C3] import does not replace without --force', async () => {
  const sandbox = new Sandbox()
  sandbox.write('busbar.yaml', 'servers:\n  a: { command: mine }\n')
  sandbox.write('theirs.json', '{"mcpServers": {"a": {"command": "theirs"}}}')
  const kept = await sandbox.run(['import', 'theirs.json', '--yes', '--json'])
  expect(kept.json.found[0].state).toBe('differs')
  expect(sandbox.read('busbar.yaml')).toContain('mine')
  await sandbox.run(['import', 'theirs.json', '--yes', '--force'])
  expect(sandbox.read('busbar.yaml')).toContain('theirs')
})

test('nothing on the machine is said, not an empty table', async () => {
  const sandbox = new Sandbox()
  mkdirSync(join(sandbox.home, '.config'))
  expect((await sandbox.run(['import'])).stdout).toContain('No servers of other tools were found')
})
