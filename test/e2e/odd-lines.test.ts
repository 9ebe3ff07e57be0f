// Lines of a stdio server that look like answers and are none, and answers of which something is missing.

import { expect, test } from 'vitest'
import { serverCommand } from '../servers/start.ts'
import { codeOf, hubWith, until } from './hub.ts'

const GOOD = '{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"fine"}]}}\n'
const LOGS: [what: string, line: string, fill?: number][] = [
  ['a log in JSON with an id', '{"level":"info","id":ID,"msg":"handling"}'],
  ['an error in a log', '{"error":"nothing found","id":ID}'],
  ['a list with an id', '["a",{"id":ID}]'],
  ['a log that is too large', '{"level":30,"id":ID,"msg":"FILL"}', 300_000],
  ['a log that is too large with its id last', '{"level":30,"msg":{"a":"FILL"},"id":ID}', 300_000],
]
test('[B6][D13] what has the id of a call but shows nothing of an answer ends no call', async () => {
  const hub = await hubWith({ own: { ...serverCommand('verbatim'), limits: { message: '100KB' } } })
  for (const [what, line, fill] of LOGS) {
    const given = { text: `${line}\n${GOOD}`, ...(fill && { fill }) }
    const answer = hub.as().call('own/write', given)
    expect([what, await answer.then(({ text }) => text, String)]).toEqual([what, 'fine'])
  }
  // The list is of two.
  expect(hub.servers.get('own').oddities.count).toBe(LOGS.length + 1)
})

const LOST: [what: string, line: string, code: string][] = [
  ['cut', '{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type"', 'MESSAGE_INVALID'],
  ['without a version', '{"id":ID,"result":{"content":[]}}', 'MESSAGE_INVALID'],
  [
    'too large, its id before the version',
    '{"result":{"a":"FILL"},"id":ID,"jsonrpc":"2.0"}',
    'MESSAGE_TOO_LARGE',
  ],
  ['too large, a text', '{"result":"FILL","took":3,"id":ID,"jsonrpc":"2.0"}', 'MESSAGE_TOO_LARGE'],
]
test('[B6] an answer that is cut, broken or too large fails its call at once', async () => {
  const hub = await hubWith({ own: { ...serverCommand('verbatim'), limits: { message: '100KB' } } })
  for (const [what, line, code] of LOST) {
    const call = hub.as().call('own/write', { text: `${line}\n`, fill: 300_000 })
    expect([what, await codeOf(call)]).toEqual([what, code])
  }
})

test('[B6] the last answer of a server that ends needs no line end; half an answer is none', async () => {
  const hub = await hubWith({ own: serverCommand('verbatim') })
  const last = (text: string) => hub.as().call('own/write', { text, exit: true })
  expect((await last(GOOD.trim())).text).toBe('fine')
  await until(() => hub.servers.get('own').status === 'connected')
  expect(await codeOf(last(GOOD.trim().slice(0, -1)))).toBe('CONNECTION_LOST')
})
