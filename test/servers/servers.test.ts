// The test servers must themselves be right: the official clients of both eras talk to them over every transport.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type Kind, open, PAIRS, type Progress, type Wire } from './clients.ts'
import { type ServerOptions, spawnCount, startServer } from './start.ts'

// The pair's server, watched: when everything of the test is closed, no process may be left.
function openWatched(kind: Kind, wire: Wire, mode: string, options: ServerOptions = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'servers-'))
  const log = join(folder, 'spawns')
  // Registered first, so it runs last.
  onTestFinished(() => {
    const pids = readFileSync(log, 'utf8')
      .trim()
      .split('\n')
      .map((line) => Number(line.split(' ')[1]))
    rmSync(folder, { recursive: true })
    expect(pids.filter(alive)).toEqual([])
  })
  return open(kind, wire, mode, { ...options, env: { SPAWN_LOG: log } })
}

function alive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

function textOf(result: unknown): string {
  const { content } = result as { content: { type: string; text?: string }[] }
  return content[0]?.text ?? ''
}

for (const [kind, wire] of PAIRS) {
  const name = (what: string) => `${kind} over ${wire}: ${what}`

  test(name('plain answers calls, reads, prompts and completions'), async () => {
    const { client, call, toolNames } = await openWatched(kind, wire, 'plain')
    expect(client.getServerVersion()?.name).toBe('plain')
    expect(client.getInstructions()).toContain('plain test server')
    expect(await toolNames()).toContain('echo')
    expect(textOf(await call('echo', { text: 'Grüße "x"' }))).toBe('Grüße "x"')
    expect(await call('add', { a: 2, b: 3 })).toMatchObject({ structuredContent: { sum: 5 } })
    expect(await call('fail')).toMatchObject({ isError: true })
    await expect(call('throw')).rejects.toThrow('It threw')
    expect(textOf(await call('blob', { size: 100_000 }))).toHaveLength(100_000)
    expect((await client.listResources()).resources).toHaveLength(2)
    expect((await client.listResourceTemplates()).resourceTemplates).toHaveLength(1)
    expect((await client.readResource({ uri: 'test://city/Bern' })).contents[0]).toMatchObject({
      text: 'City: Bern',
    })
    await expect(client.readResource({ uri: 'test://none' })).rejects.toThrow('not found')
    expect((await client.getPrompt({ name: 'greet', arguments: { name: 'Ada' } })).messages).toHaveLength(1)
    const completion = {
      ref: { type: 'ref/prompt' as const, name: 'greet' },
      argument: { name: 'name', value: 'be' },
    }
    expect((await client.complete(completion)).completion.values).toEqual(['Berlin', 'Bern'])
  })

  test(name('plain reports progress'), async () => {
    const { call } = await openWatched(kind, wire, 'plain')
    const seen: Progress[] = []
    // The SDKs may drop the last update when it arrives together with the result.
    expect(textOf(await call('progress', { steps: 3, delay: 20 }, (one) => seen.push(one)))).toBe('3 steps')
    expect(seen[0]).toMatchObject({ progress: 1, total: 3 })
  })

  test(name('content of every kind passes the schemas of the SDK'), async () => {
    const { call, toolNames } = await openWatched(kind, wire, 'content')
    const types: Record<string, string[]> = {}
    for (const tool of await toolNames()) {
      const { content } = (await call(tool)) as { content: { type: string }[] }
      types[tool] = content.map((block) => block.type)
    }
    expect(types).toEqual({
      text: ['text'],
      image: ['image'],
      audio: ['audio'],
      link: ['resource_link'],
      embedded: ['resource'],
      'embedded-blob': ['resource'],
      structured: ['text'],
      'structured-list': ['text'],
      mixed: ['text', 'image', 'resource_link', 'resource', 'audio'],
      empty: [],
      annotated: ['text'],
    })
    expect(await call('annotated')).toMatchObject({ _meta: { 'example.com/result': ['kept'] } })
    const list = await call('structured-list')
    if (kind === 'v2 modern') expect(list).toMatchObject({ structuredContent: [1, 'two', null] })
    else expect(list).not.toHaveProperty('structuredContent')
  })

  test(name('elicit asks the client in the way of the era'), async () => {
    const { call } = await openWatched(kind, wire, 'elicit')
    expect(JSON.parse(textOf(await call('ask')))).toEqual({
      action: 'accept',
      content: { name: 'Ada', age: 36 },
    })
    expect(JSON.parse(textOf(await call('ask-url')))).toEqual({ action: 'accept' })
    expect(JSON.parse(textOf(await call('sample')))).toMatchObject({ content: { text: 'Paris' } })
    expect(JSON.parse(textOf(await call('roots')))).toMatchObject({ roots: [{ name: 'work' }] })
  })

  test(name('changing tells of its changes'), async () => {
    const { call, toolNames, watchTools } = await openWatched(kind, wire, 'changing')
    const { changed } = await watchTools()
    expect(await toolNames()).not.toContain('added-1')
    await call('change', { kind: 'add' })
    await changed
    expect(await toolNames()).toContain('added-1')
  })

  test(name('pages gives 250 tools'), async () => {
    const { toolNames } = await openWatched(kind, wire, 'pages')
    const names = await toolNames()
    expect(names).toHaveLength(250)
    expect(new Set(names).size).toBe(250)
  })
}

const REFERENCES: [string, Kind, Wire][] = [
  ['sdk1', 'v1', 'stdio'],
  ['sdk1', 'v2 legacy', 'http'],
  ['sdk2', 'v1', 'http'],
  ['sdk2', 'v2 legacy', 'stdio'],
  ['sdk2', 'v2 modern', 'stdio'],
  ['sdk2', 'v2 modern', 'http'],
]
for (const [server, kind, wire] of REFERENCES) {
  test(`${kind} over ${wire}: reference server ${server}`, async () => {
    const { client, call, toolNames } = await openWatched(kind, wire, server)
    expect(await toolNames()).toEqual(['echo', 'add', 'sleep', 'progress'])
    expect(await call('add', { a: 1, b: 2 })).toMatchObject({ structuredContent: { sum: 3 } })
    expect(textOf(await call('sleep', { ms: 1 }))).toBe('slept 1 ms')
    expect((await client.readResource({ uri: 'test://text' })).contents).toHaveLength(1)
    expect((await client.getPrompt({ name: 'greet', arguments: { name: 'Ada' } })).messages).toHaveLength(1)
  })
}

test('a server of one era refuses the other', async () => {
  await expect(open('v2 modern', 'stdio', 'plain', { era: 'legacy' })).rejects.toThrow()
  await expect(open('v2 modern', 'http', 'plain', { era: 'legacy' })).rejects.toThrow()
  await expect(open('v1', 'stdio', 'plain', { era: 'modern' })).rejects.toThrow()
  await expect(open('v1', 'http', 'plain', { era: 'modern' })).rejects.toThrow()
})

test('a cut legacy stream is resumed by its event ids', async () => {
  const { call } = await openWatched('v1', 'http', 'stream-cut')
  expect(textOf(await call('cut'))).toBe('after the cut')
})

test('a lost session is answered with 404', async () => {
  const { call } = await openWatched('v1', 'http', 'session-loss')
  await call('forget')
  await expect(call('echo', { text: 'x' })).rejects.toThrow('Session not found')
})

test('each server process is counted once', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'servers-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const log = join(folder, 'spawns')
  expect(spawnCount(log)).toBe(0)
  const server = await startServer('plain', { env: { SPAWN_LOG: log } })
  expect(spawnCount(log)).toBe(1)
  await server.stop()
  expect(alive(server.pid)).toBe(false)
})
