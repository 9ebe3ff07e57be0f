// Servers that others wrote, listed and called through the built command line.

import { realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { expect, test } from 'vitest'
import { startPostgres } from '../services/postgres.ts'
import { served } from '../services/served.ts'
import type { Answer } from './cli.ts'

const require = createRequire(import.meta.url)

function official(file: string, ...args: string[]): { command: string; args: string[] } {
  return { command: process.execPath, args: [file, ...args] }
}

const EVERYTHING = require.resolve('@modelcontextprotocol/server-everything/dist/index.js')
const FILESYSTEM = require.resolve('@modelcontextprotocol/server-filesystem/dist/index.js')
const MEMORY = require.resolve('@modelcontextprotocol/server-memory/dist/index.js')
const POSTGRES = require.resolve('@modelcontextprotocol/server-postgres/dist/index.js')

test('[C12][C1] server-everything: every kind of thing it has', async () => {
  const sandbox = await served({ everything: official(EVERYTHING, 'stdio') })
  const checked = await sandbox.run(['list', '--check', '--json'])
  expect(checked.code).toBe(0)
  expect(checked.json.servers[0]).toMatchObject({
    name: 'everything',
    status: 'connected',
    serverInfo: { name: expect.stringContaining('everything') },
    era: 'legacy',
  })
  const names = checked.json.servers[0].tools.map((tool: Answer) => tool.name)
  expect(names).toContain('echo')
  const echoed = await sandbox.run(['call', 'everything/echo', 'message=Grüße'])
  expect([echoed.code, echoed.stdout]).toEqual([0, 'Echo: Grüße\n'])
  const sum = await sandbox.run(['call', 'everything:get-sum', 'a=2', 'b=40'])
  expect(sum.stdout).toContain('42')
  const image = await sandbox.run(['call', 'everything/get-tiny-image', '--output', 'tiny.png'])
  expect([image.code, image.stderr]).toEqual([0, expect.stringContaining('wrote tiny.png')])
  expect(image.stdout).toMatch(/\[image image\/png \d+ bytes\]/)
  expect(sandbox.read('tiny.png').slice(1, 4)).toBe('PNG')
  const long = await sandbox.run([
    'call',
    'everything/trigger-long-running-operation',
    'duration=1',
    'steps=3',
  ])
  expect([long.code, long.stderr]).toEqual([0, ''])
  const { json } = await sandbox.run(['resources', 'everything', '--json'])
  const [resource] = json.resources
  const read = await sandbox.run(['read', 'everything', resource.uri, '--json'])
  expect(read.json.contents[0].uri).toBe(resource.uri)
  const prompts = await sandbox.run(['prompts', 'everything', '--json'])
  expect(prompts.json.prompts.length).toBeGreaterThan(0)
})

test('[C12][C5] server-filesystem: reads and writes a file, and its refusal is a tool error', async () => {
  const sandbox = await served({ files: official(FILESYSTEM, '.') })
  sandbox.write('hello.txt', 'Hello, “world”\n')
  const file = `${realpathSync(sandbox.project)}/hello.txt`
  const read = await sandbox.run(['call', 'files/read_text_file', `path=${file}`])
  expect([read.code, read.stdout]).toEqual([0, 'Hello, “world”\n\n'])
  sandbox.write('source.md', '# From a file\n')
  const copy = file.replace('hello.txt', 'copy.md')
  const wrote = await sandbox.run(['call', 'files/write_file', `path=${copy}`, 'content=@source.md'])
  expect(wrote.code).toBe(0)
  expect(sandbox.read('copy.md')).toBe('# From a file\n')
  const many = await sandbox.run([
    'call',
    'files/read_multiple_files',
    `paths=["${file}","${copy}"]`,
    '--json',
  ])
  expect(many.json.content[0].text).toContain('# From a file')
  const outside = await sandbox.run(['call', 'files/read_text_file', 'path=/etc/passwd'])
  expect(outside.code).toBe(5)
  expect(outside.stdout).toContain('Access denied')
  expect(outside.stderr).toBe('')
})

test('[C12][C5] server-memory: what one process wrote the next one finds', async () => {
  const memory = official(MEMORY)
  const sandbox = await served({ memory: { ...memory, env: { MEMORY_FILE_PATH: '${HOME}/memory.jsonl' } } })
  const entities = [{ name: 'Ada', entityType: 'person', observations: ['wrote the first program'] }]
  const made = await sandbox.run(['call', 'memory/create_entities', '-', '--json'], {
    input: JSON.stringify({ entities }),
  })
  expect(made.code).toBe(0)
  const found = await sandbox.run(['call', 'memory/search_nodes', 'query=first program', '--json'])
  expect(JSON.parse(found.json.content[0].text).entities).toMatchObject(entities)
})

test('[C12][C5] server-postgres against a real PostgreSQL; its password reaches no screen', async () => {
  const postgres = await startPostgres()
  postgres.sql(`
    create table buses (id integer primary key, line text not null, seats bigint);
    insert into buses values (1, 'M29', 85), (2, 'Zürich 31', 9007199254740993);
  `)
  const sandbox = await served({ database: official(POSTGRES, '${DATABASE_URL}') })
  const env = { DATABASE_URL: postgres.url }
  const checked = await sandbox.run(['list', '--check', '--json'], { env })
  expect(checked.json.servers[0]).toMatchObject({ status: 'connected', protocolVersion: expect.any(String) })
  const queried = await sandbox.run(
    ['call', 'database/query', 'sql=select line, seats from buses order by id', '--json'],
    { env },
  )
  expect([queried.code, queried.stderr]).toEqual([0, ''])
  expect(JSON.parse(queried.json.content[0].text)).toEqual([
    { line: 'M29', seats: '85' },
    { line: 'Zürich 31', seats: '9007199254740993' },
  ])
  const written = await sandbox.run(['call', 'database/query', 'sql=delete from buses'], { env })
  expect([written.code, written.stdout]).toEqual([5, expect.stringContaining('read-only transaction')])
  const resources = await sandbox.run(['resources', 'database', '--json'], { env })
  expect(resources.json.resources).toHaveLength(1)
  const { uri } = resources.json.resources[0]
  const schema = await sandbox.run(['read', 'database', uri], { env })
  expect(JSON.parse(schema.stdout)).toContainEqual({ column_name: 'line', data_type: 'text' })
  const wrong = { DATABASE_URL: postgres.url.replace(postgres.password, 'wrong-password') }
  const refused = await sandbox.run(['call', 'database/query', 'sql=select 1'], { env: wrong })
  expect([refused.code, refused.stdout]).toEqual([
    5,
    expect.stringContaining('password authentication failed'),
  ])
  const doctor = await sandbox.run(['doctor'], { env })
  for (const { stdout, stderr } of [checked, queried, written, resources, schema, refused, doctor])
    for (const secret of [postgres.password, 'wrong-password']) expect(stdout + stderr).not.toContain(secret)
})

test('[C12][C10] all of them at once, with one that is dead', async () => {
  const sandbox = await served({
    everything: official(EVERYTHING, 'stdio'),
    files: official(FILESYSTEM, '.'),
    memory: official(MEMORY),
    dead: { command: 'no-such-program' },
  })
  const { code, json, stderr } = await sandbox.run(['tools', '--json'])
  expect([code, stderr]).toEqual([0, ''])
  expect(new Set(json.tools.map((tool: Answer) => tool.server))).toEqual(
    new Set(['everything', 'files', 'memory']),
  )
  expect(json.warnings).toEqual([expect.stringContaining('no-such-program')])
})
