// The seeds' examples and every foreign format, through the built command line.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Answer, Sandbox } from './cli.ts'

const FIXTURES = new URL('../fixtures/formats/', import.meta.url).pathname
const folders = readdirSync(FIXTURES).filter((folder) => existsSync(join(FIXTURES, folder, 'expected.json')))

for (const folder of folders)
  test(`[A1][C3][D6] busbar list reads ${folder}`, async () => {
    const expected: Answer = JSON.parse(readFileSync(join(FIXTURES, folder, 'expected.json'), 'utf8'))
    const inputs = Object.entries(expected.inputs ?? {}).map(([id, value]) => [
      `BUSBAR_INPUT_${id.replace(/[^A-Za-z0-9]+/g, '_').toUpperCase()}`,
      String(value),
    ])
    const env = { ...expected.env, ...Object.fromEntries(inputs), BUSBAR_INPUT_LIBRECHAT_USER_ID: 'u1' }
    const file = join(FIXTURES, folder, expected.file)
    const before = readFileSync(file)
    const result = await new Sandbox().run(['list', '--json', '--config', file], { env })
    expect(result.stderr).toBe('')
    expect(result.code).toBe(0)
    const rows: Answer[] = result.json.servers.filter((row: Answer) => row.scope !== 'catalog')
    const wanted = Object.entries<Answer>(expected.servers).map(([name, server]) => ({
      name: name.replaceAll('/', '-'),
      transport: server.transport,
      enabled: server.enabled,
      source: file,
    }))
    const found = rows.map(({ name, transport, enabled, source }) => ({ name, transport, enabled, source }))
    const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1)
    expect(found.sort(byName)).toEqual(wanted.sort(byName))
    for (const row of rows) {
      expect(row.line, row.name).toBeGreaterThan(0)
      if (!row.enabled) expect(row.status).toBe('disabled')
      else if (row.missing === undefined) expect(row.status).toBe('pending')
    }
    for (const [server, agents] of Object.entries<string[]>(expected.agents ?? {})) {
      const row = result.json.servers.find((it: Answer) => it.name === server)
      expect([server, [...row.agents].sort()]).toEqual([server, [...agents].sort()])
    }
    expect(readFileSync(file)).toEqual(before)
  })

test('[A1] the first seed: statuses follow the variables', async () => {
  const file = join(FIXTURES, 'aicib', 'aicib.config.yaml')
  const unset = await new Sandbox().run(['list', '--json', '--config', file])
  expect(unset.json.servers.map((row: Answer) => [row.name, row.status, row.agents])).toEqual([
    ['github', 'failed', ['cto']],
    ['linear', 'failed', ['cto']],
    ['notion', 'failed', ['ceo']],
  ])
  expect(unset.json.servers[0].error).toContain('GITHUB_TOKEN')
  const env = { GITHUB_TOKEN: 'a', LINEAR_API_KEY: 'b', NOTION_TOKEN: 'c' }
  const set = await new Sandbox().run(['list', '--json', '--config', file], { env })
  expect(set.json.servers.map((row: Answer) => row.status)).toEqual(['pending', 'pending', 'pending'])
})

test('[D6] the fourth seed: id is the name, the third server is off, the switches are understood', async () => {
  const file = join(FIXTURES, 'mcp-servers', 'mcp-servers.json')
  const sandbox = new Sandbox()
  const list = await sandbox.run(['list', '--json', '--config', file], { env: { GITHUB_TOKEN: 'a' } })
  expect(list.json.servers.map((row: Answer) => [row.name, row.status])).toEqual([
    ['filesystem', 'pending'],
    ['github', 'pending'],
    ['web-search', 'disabled'],
  ])
  const shown = await sandbox.run(['config', 'show', '--json', '--config', file])
  expect(shown.json.config.steward).toMatchObject({ enabled: true, autoDiscovery: false })
  expect(shown.json.config.defaults.approval).toBe('always')
  expect(shown.json.config.servers['web-search'].prefix).toBe('brave-search')
})
