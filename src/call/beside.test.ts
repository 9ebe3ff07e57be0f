import { expect, test } from 'vitest'
import { type RawParams, readParams } from '../wire/params.ts'
import { besideIn, withBeside } from './beside.ts'

const paramsOf = (text: string) => readParams(Buffer.from(text)) as RawParams

test('[D11] what answers a question of the server is told apart from all else beside the arguments', () => {
  expect(besideIn(paramsOf('{"name":"a","arguments":{"n":1},"_meta":{}}'))).toBeUndefined()
  expect(besideIn(paramsOf('{"name":"a","requestState":"s"}'))).toEqual({
    all: '{"requestState":"s"}',
    own: undefined,
  })
  expect(besideIn(paramsOf('{"task":{"ttl":5},"name":"a","inputResponses":{}}'))).toEqual({
    all: '{"task":{"ttl":5},"inputResponses":{}}',
    own: '{"task":{"ttl":5}}',
  })
})

test('[D11] it is shown under a name that no argument has, however that is written', () => {
  expect(withBeside('{"n":1}', undefined)).toBe('{"n":1}')
  expect(withBeside(' { } ', '{"x":1}')).toBe('{"#params":{"x":1}}')
  for (const name of ['#params', '\\u0023params', '#par\\u0061ms', '#\\u0070arams']) {
    const shown = JSON.parse(withBeside(`{"${name}":"own"}`, '{"x":1}'))
    expect(shown).toEqual({ '#params': 'own', '##params': { x: 1 } })
  }
  // What are no arguments is refused for that.
  expect(withBeside('[1]', '{"x":1}')).toBe('[1]')
})
