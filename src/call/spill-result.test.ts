import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { placesOf } from '../base/places.ts'
import { loadConfig } from '../config/load.ts'
import type { Actor } from '../policy/access.ts'
import { Rulebook } from '../policy/facts.ts'
import { type ReplyMessage, readMessage } from '../wire/message.ts'
import { Spill } from './spill.ts'
import { spilledBytes, spilledReply } from './spill-result.ts'

const ADA: Actor = { kind: 'agent', id: 'ada' }

async function open(spill?: string) {
  const home = mkdtempSync(join(tmpdir(), 'busbar-spill-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const places = placesOf({ BUSBAR_HOME: home })
  const results = spill === undefined ? {} : { results: { spill } }
  const active = await loadConfig({ places, data: { agents: { ada: results } } })
  const rules = new Rulebook(active)
  const troubles: string[] = []
  const made = new Spill(
    places,
    () => rules,
    () => active,
    (message) => troubles.push(message),
  )
  onTestFinished(() => made.close())
  return { spill: made, troubles, folder: join(places.state, 'results') }
}

const text = (size: number) => ({ type: 'text', text: 'x'.repeat(size) })
const image = { type: 'image', mimeType: 'image/png', data: 'AAAA' }

async function cut(result: object, promised = false) {
  const { spill } = await open('1KB')
  const bytes = Buffer.from(JSON.stringify(result))
  const given = spilledBytes(spill, ADA, bytes, promised)
  return given === bytes ? undefined : JSON.parse(String(given))
}

test('small results are the very same bytes, and so are large ones of an agent that says nothing', async () => {
  expect(await cut({ content: [text(1000)] })).toBeUndefined()
  // Only text counts: what else there is may be large.
  expect(await cut({ content: [text(10), { ...image, data: 'A'.repeat(5000) }] })).toBeUndefined()
  for (const said of [undefined, 'off']) {
    const { spill, folder } = await open(said)
    const bytes = Buffer.from(JSON.stringify({ content: [text(500_000)] }))
    expect(spilledBytes(spill, ADA, bytes)).toBe(bytes)
    expect(existsSync(folder)).toBe(false)
  }
})

test('text is cut once for all its parts; images, errors and what else there is stay', async () => {
  const result = await cut({ content: [text(900), image, text(900)], isError: true, _meta: { a: 1 } })
  expect(result).toEqual({
    content: [
      { type: 'text', text: expect.stringMatching(/^x{900}\nx{123}\n\n\[Cut here: bytes 0–1024 of 1801/) },
      image,
    ],
    isError: true,
    _meta: { a: 1 },
  })
})

test('data goes with the text that repeats it, unless its schema was promised', async () => {
  const repeated = { content: [text(5000)], structuredContent: { said: 'x'.repeat(5000) } }
  expect(await cut(repeated)).not.toHaveProperty('structuredContent')
  expect((await cut(repeated, true)).structuredContent).toEqual(repeated.structuredContent)
  const alone = { content: [text(2)], structuredContent: { rows: Array(900).fill(1) } }
  expect((await cut(alone)).content[0].text).toMatch(/^xx\n\{"rows":\[1,1,/)
  expect(await cut(alone, true)).toBeUndefined()
})

test('a reply keeps its id, and one that is no result is left alone', async () => {
  const { spill } = await open('1KB')
  const reply = (more: object) =>
    readMessage(Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 'seven', ...more }))) as ReplyMessage
  const large = spilledReply(spill, ADA, reply({ result: { content: [text(5000)] } }), false)
  expect(large).toMatchObject({ kind: 'result', id: 'seven' })
  expect(large.bytes.length).toBeLessThan(1500)
  const error = reply({ error: { code: 1, message: 'x'.repeat(5000) } })
  expect(spilledReply(spill, ADA, error, false)).toBe(error)
})

test('what cannot be kept is cut all the same, and told', async () => {
  const { spill, troubles, folder } = await open('1KB')
  // A folder that others may write to is not used.
  mkdirSync(folder, { recursive: true })
  chmodSync(folder, 0o777)
  expect(spill.fit(ADA, 'x'.repeat(2000))).toMatch(/^x{1024}\n\[976 more bytes were left out\]$/)
  expect(troubles).toEqual([expect.stringContaining('can be written by other users')])
})
