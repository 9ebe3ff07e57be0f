import { expect, test } from 'vitest'
import { answer, capabilitiesOf } from './answers.ts'

const SCHEMA = {
  type: 'object',
  properties: {
    name: { type: 'string', default: 'Ada' },
    age: { type: 'number' },
    on: { type: 'boolean', default: false },
  },
}

test('only what has a handler is offered', () => {
  expect(capabilitiesOf({})).toEqual({})
  expect(capabilitiesOf({ roots: [] })).toEqual({ roots: {} })
  expect(capabilitiesOf({ onElicitation: () => ({ action: 'cancel' }), onSampling: () => ({}) })).toEqual({
    elicitation: { form: {}, url: {} },
    sampling: {},
  })
})

for (const method of ['elicitation/create', 'sampling/createMessage', 'roots/list', 'unknown/method'])
  test(`${method} without a handler is refused as a method that is not there`, async () => {
    expect(await answer('files', method, {}, {})).toMatchObject({ error: { code: -32601 } })
  })

test('a sign of life is always given', async () => {
  expect(await answer('files', 'ping', undefined, {})).toEqual({ result: {} })
})

test('fields that a person left alone have the default of the schema', async () => {
  const given = await answer(
    'files',
    'elicitation/create',
    { message: 'Who?', requestedSchema: SCHEMA },
    { onElicitation: () => ({ action: 'accept', content: { age: 3 } }) },
  )
  expect(given).toEqual({ result: { action: 'accept', content: { name: 'Ada', on: false, age: 3 } } })
})

test('who declines sends no content', async () => {
  const handlers = { onElicitation: () => ({ action: 'decline', content: { name: 'x' } }) as const }
  const given = await answer(
    'files',
    'elicitation/create',
    { message: '', requestedSchema: SCHEMA },
    handlers,
  )
  expect(given).toEqual({ result: { action: 'decline' } })
})

for (const url of ['javascript:alert(1)', 'file:///etc/passwd', 'not an address', undefined])
  test(`a person is never sent to ${url}`, async () => {
    let asked = false
    const onElicitation = () => {
      asked = true
      return { action: 'accept' } as const
    }
    const given = await answer(
      'files',
      'elicitation/create',
      { mode: 'url', message: '', url },
      { onElicitation },
    )
    expect(given).toMatchObject({ error: { code: -32602 } })
    expect(asked).toBe(false)
  })

test('a handler that throws refuses, and nothing else happens', async () => {
  const onSampling = () => {
    throw new Error('no model here')
  }
  expect(await answer('files', 'sampling/createMessage', {}, { onSampling })).toMatchObject({
    error: { code: -32603, message: expect.stringContaining('no model here') },
  })
})

test('an action that the protocol does not have is refused, whoever returned it', async () => {
  for (const given of [{ action: 'bogus' }, undefined, null, 'accept'])
    expect(
      await answer('files', 'elicitation/create', { message: '?' }, { onElicitation: () => given as never }),
    ).toMatchObject({ error: { code: -32603 } })
})
