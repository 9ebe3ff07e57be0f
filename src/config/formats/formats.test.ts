// Every known client's file, as people have them, against what must be understood of it.

import { existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { placesOf } from '../../base/places.ts'
import { loadConfig } from '../load.ts'
import { transportOf } from '../schema-server.ts'
import type { Snapshot } from '../snapshot.ts'

const FIXTURES = new URL('../../../test/fixtures/formats/', import.meta.url).pathname

interface ExpectedServer {
  transport: string
  enabled: boolean
  command?: string
  args?: string[]
  url?: string
  env?: Record<string, string>
  headers?: Record<string, string>
  cwd?: string
}
interface Expected {
  format: string
  file: string
  env: Record<string, string>
  servers: Record<string, ExpectedServer>
  agents?: Record<string, string[]>
}

/** Some clients' own variable syntax is read as ours. */
function rewritten(format: string, server: ExpectedServer): ExpectedServer {
  if (!['gemini', 'copilot-cli', 'goose', 'librechat'].includes(format)) return server
  const text = JSON.stringify(server)
    .replace(/\$\{ (\w+) \}/g, '${$1}')
    .replace(/\$([A-Z]\w*)/g, '${$1}')
    .replace(/\{\{(\w+)\}\}/g, '${input:$1}')
  return JSON.parse(text)
}

const home = mkdtempSync(join(tmpdir(), 'busbar-formats-'))

async function load(folder: string, expected: Expected): Promise<Snapshot> {
  const env = { ...expected.env, HOME: home, BUSBAR_HOME: home, PATH: '/usr/bin' }
  const places = { ...placesOf(env), managed: join(home, 'none.yaml') }
  return await loadConfig({ config: join(FIXTURES, folder, expected.file), env, places })
}

const cases = readdirSync(FIXTURES).filter((folder) => existsSync(join(FIXTURES, folder, 'expected.json')))

test('there is a sample of every format', () => {
  expect(cases.length).toBeGreaterThan(20)
})

for (const folder of cases) {
  const expected: Expected = JSON.parse(readFileSync(join(FIXTURES, folder, 'expected.json'), 'utf8'))

  test(`[A1][C3][D6] reads the servers of ${folder}`, async () => {
    const snapshot = await load(folder, expected)
    expect(snapshot.problems).toEqual([])
    const found = [...snapshot.servers.values()].filter((entry) => entry.scope !== 'catalog')
    const wanted = Object.entries(expected.servers).map(
      ([name, server]) => [name.replaceAll('/', '-'), server] as const,
    )
    expect(found.map((entry) => entry.name).sort()).toEqual(wanted.map(([name]) => name).sort())
    for (const [name, server] of wanted) {
      const definition = snapshot.config.servers[name]
      if (!definition) throw new Error(`${name} is missing`)
      const actual = {
        transport: transportOf(definition),
        enabled: definition.enabled,
        ...(definition.command === undefined ? {} : { command: definition.command, args: definition.args }),
        ...(definition.url === undefined ? {} : { url: definition.url }),
        ...(definition.cwd === undefined ? {} : { cwd: definition.cwd }),
        env: definition.env,
        headers: definition.headers,
      }
      const { args, env = {}, headers = {}, ...rest } = rewritten(expected.format, server)
      expect({ name, ...actual }).toEqual({
        name,
        ...rest,
        ...(server.command === undefined ? {} : { args: args ?? [] }),
        env,
        headers,
      })
    }
  })

  test(`[A2] assigns the servers of ${folder}`, async () => {
    const snapshot = await load(folder, expected)
    for (const [server, agents] of Object.entries(expected.agents ?? {})) {
      const holders = snapshot.assignments.filter((it) => it.servers.includes(server)).map((it) => it.id)
      expect([server, holders.sort()]).toEqual([server, [...agents].sort()])
    }
  })
}
