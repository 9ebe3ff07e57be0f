// What a model is given of large results, and how it reads on.

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { serverCommand } from '../servers/start.ts'
import { AGENTS, type Answer, type Hub, place, up } from './hub.ts'
import { connect, textOf } from './surface-client.ts'

const plain = serverCommand('plain')

/** The files that a hub has kept. */
function keptIn(hub: Hub): string[] {
  const folder = join(hub.places.state, 'results')
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.txt'))
    .map((name) => join(folder, name))
}

test('[C5][C11] a model is given the beginning of a large result, and reads on; nobody else does', async () => {
  const hub = await place().open({
    servers: { plain: { ...plain, env: { API_KEY: 'sup3r-s3cret-value' } } },
    agents: {
      ada: { servers: ['*'], approval: 'never' },
      bob: { servers: ['*'], approval: 'never' },
      off: { servers: ['*'], approval: 'never', results: { spill: 'off' } },
    },
  })
  const ada = hub.as('ada')
  await ada.ready()
  const has = (agent: string) =>
    hub
      .as(agent)
      .tools({ format: 'anthropic' })
      .some((one) => one['name'] === 'read_result')
  expect(has('ada')).toBe(false)
  const whole = `${'Größe 🚌 '.repeat(20_000)}sup3r-s3cret-value ${'x'.repeat(60_000)}`
  const result = await ada.call('plain/echo', { text: whole })
  expect(result.text).toBe(whole)
  const shown = result.forModel()
  expect(result.forModel()).toBe(shown)
  expect(keptIn(hub)).toHaveLength(1)
  const [, beginning = '', size, said = ''] =
    /^([\s\S]*)\n\n\[Cut here: bytes 0–\d+ of (\d+)\. .* read_result (\{.*\})\]$/.exec(shown) ?? []
  expect(Buffer.byteLength(beginning)).toBeLessThanOrEqual(100 * 1024)
  const next = JSON.parse(said)
  let read = beginning
  for (let at: number | undefined = next.offset; at !== undefined; ) {
    const page = await ada.call('read_result', { id: next.id, offset: at, limit: 33_333 })
    const [, text, end] = /^([\s\S]*)\n\n\[Bytes \d+–\d+ of \d+; (.*)\]$/.exec(page.forModel()) ?? []
    read += text
    at = end?.startsWith('go on') ? JSON.parse(end.replace('go on with ', '')).offset : undefined
  }
  expect(read).toBe(whole.replace('sup3r-s3cret-value', '••••••'))
  expect(Buffer.byteLength(read)).toBe(Number(size))
  expect(has('ada')).toBe(true)
  const [file = ''] = keptIn(hub)
  expect(readFileSync(file, 'utf8')).toBe(read)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  // Another agent's id is as good as none.
  expect(has('bob')).toBe(false)
  const other = await hub.as('bob').call('read_result', { id: next.id })
  expect([other.isError, other.text]).toEqual([true, expect.stringContaining('no result has the id')])
  expect((await ada.call('read_result', { id: '../../x' })).isError).toBe(true)
  expect((await ada.call('read_result', { id: next.id, offset: -1 })).isError).toBe(true)
  expect((await ada.call('read_result', { id: next.id, offset: 10 ** 9 })).text).toContain('The end')
  expect((await hub.as('off').call('plain/echo', { text: whole })).forModel()).toMatch(
    /\d+ more bytes were left out\]$/,
  )
  expect(keptIn(hub)).toHaveLength(1)
})

test('[C5] through the gateway large results stay whole, unless the agent’s entry wants them cut', async () => {
  const { sandbox } = place()
  const gateway = await up(sandbox, {
    servers: { plain },
    agents: { ...AGENTS, bob: { ...AGENTS.ada, token: 'bobs-token-55d1', results: { spill: '10KB' } } },
  })
  const text = '€'.repeat(40_000)
  const ada = await connect('v1', gateway)
  expect(textOf(await ada.call('mcp__plain__echo', { text }))).toBe(text)
  expect(await ada.names()).not.toContain('read_result')
  for (const kind of ['v1', 'v2 modern'] as const) {
    const bob = await connect(kind, gateway, 'bobs-token-55d1')
    expect(await bob.names()).toContain('read_result')
    const cut = textOf(await bob.call('mcp__plain__echo', { text }))
    expect(cut).toMatch(/^€+\n\n\[Cut here: bytes 0–10239 of 120000\./)
    const next = JSON.parse(/read_result (\{.*\})\]$/.exec(cut)?.[1] ?? '')
    expect(textOf(await bob.call('read_result', next))).toMatch(
      /^€+\n\n\[Bytes 10239–\d+ of 120000; go on with/,
    )
    expect(textOf(await bob.call('mcp__plain__echo', { text: 'short' }))).toBe('short')
  }
  // One server as it is: nothing is taken away there.
  const answer = await gateway.post(
    '/mcp/plain',
    { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'echo', arguments: { text } } },
    { authorization: 'Bearer bobs-token-55d1' },
  )
  expect(textOf(((await answer.json()) as Answer).result)).toBe(text)
})
