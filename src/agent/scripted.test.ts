import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Fault } from '../base/fault.ts'
import type { Model, ModelEvent, ModelRequest } from './model.ts'
import { modelsFrom } from './providers.ts'
import { scriptedModel } from './scripted.ts'

const REQUEST: ModelRequest = {
  system: '',
  messages: [{ role: 'user', text: 'hello' }],
  tools: [],
  maxTokens: 100,
  signal: new AbortController().signal,
}

async function ask(model: Model, request: Partial<ModelRequest> = {}): Promise<ModelEvent[]> {
  const events: ModelEvent[] = []
  for await (const event of model.stream({ ...REQUEST, ...request })) events.push(event)
  return events
}

test('[E1] gives its steps in order, piece by piece, and says when it is over', async () => {
  const model = scriptedModel([
    {
      thinking: 'hm',
      text: 'one two',
      uses: [
        { name: 'look', arguments: { at: 1 } },
        { name: 'x', arguments: '{' },
      ],
    },
    ({ messages }) => ({ text: `you said ${messages[0]?.role === 'user' ? messages[0].text : ''}` }),
  ])
  expect(await ask(model)).toMatchObject([
    { type: 'thinking', text: 'hm' },
    { type: 'text', text: 'one ' },
    { type: 'text', text: 'two' },
    { type: 'use', use: { id: 'use_1', name: 'look', arguments: '{"at":1}' } },
    { type: 'use', use: { id: 'use_2', name: 'x', arguments: '{' } },
    { type: 'end', reason: 'uses' },
  ])
  expect((await ask(model)).map((event) => (event.type === 'text' ? event.text : '')).join('')).toBe(
    'you said hello',
  )
  expect((await ask(model)).at(-1)).toMatchObject({ type: 'end', reason: 'stop' })
  expect(model.requests).toHaveLength(3)
})

test('the signal stops it in the middle', async () => {
  const stop = new AbortController()
  const seen: ModelEvent[] = []
  const asking = (async () => {
    for await (const event of scriptedModel({ text: 'one two three' }).stream({
      ...REQUEST,
      signal: stop.signal,
    })) {
      seen.push(event)
      stop.abort(new Error('enough'))
    }
  })()
  await expect(asking).rejects.toThrow('enough')
  expect(seen).toEqual([{ type: 'text', text: 'one ' }])
})

test('a script may stand in a file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'busbar-script-'))
  try {
    const path = join(folder, 'script.json')
    writeFileSync(path, JSON.stringify([{ text: 'hi' }]))
    const models = modelsFrom({ model: { provider: 'scripted', name: path } }, {})
    if (models instanceof Fault) throw models
    expect(await ask(models.normal)).toMatchObject([{ type: 'text', text: 'hi' }, { type: 'end' }])
    writeFileSync(path, JSON.stringify([{ txt: 'hi' }]))
    expect(modelsFrom({ model: { provider: 'scripted', name: path } }, {})).toMatchObject({
      code: 'MODEL_REFUSED',
    })
  } finally {
    rmSync(folder, { recursive: true })
  }
})
