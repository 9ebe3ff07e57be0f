// Results that are none, and parts of results that nobody knows: one verdict, whoever calls and however it is shown.

import { expect, test } from 'vitest'
import { AGENTS, faultOf, ownServer, place, up } from './hub.ts'

const ODD = `globalThis.methods = { 'tools/call': ({ arguments: { raw } }) => JSON.parse(raw) }`
const NONE = ['null', '"s"', '[1]']
const SAID = 'odd answered with a result that is no object'
const PARTS = '{"content":[{"type":"text"},null]}'
const SHOWN = ['[no content that can be shown: {"type":"text"}]', '[no content that can be shown: null]']

test('[C5][B9] a result that is none is an error on the command line, also with --json', async () => {
  const { sandbox } = place()
  const odd = ownServer(sandbox, '{ give: 0 }', ODD)
  sandbox.write('busbar.json', JSON.stringify({ servers: { odd } }))
  const give = (raw: string, ...more: string[]) =>
    sandbox.run(['call', 'odd/give', `raw:=${JSON.stringify(raw)}`, '--trust', ...more])
  for (const raw of NONE) {
    const [text, json] = [await give(raw), await give(raw, '--json')]
    expect([raw, text.code, text.stdout]).toEqual([raw, 5, ''])
    expect([raw, json.code, json.stdout]).toEqual([raw, 5, ''])
    expect(text.stderr).toContain(SAID)
    expect(json.error).toMatchObject({ code: 'MESSAGE_INVALID', message: SAID, server: 'odd' })
  }
  const shown = await give(PARTS)
  expect([shown.code, shown.stdout]).toEqual([0, `${SHOWN.join('\n')}\n`])
  expect((await give(PARTS, '--json')).stdout).toBe(`${PARTS}\n`)
})

test('[C5][B9] a result that is none is a fault in a program, and an error in the record', async () => {
  const home = place()
  const hub = await home.open({ servers: { odd: ownServer(home.sandbox, '{ give: 0 }', ODD) } })
  // The first call finds its way, the second one knows it.
  for (const raw of NONE)
    for (const _ of [1, 2])
      expect(await faultOf(hub.as().call('odd/give', { raw }))).toMatchObject({
        code: 'MESSAGE_INVALID',
        message: SAID,
      })
  await hub.flush()
  const calls = await hub.calls.list({})
  expect(calls.map(({ outcome, code }) => [outcome, code])).toEqual(
    Array.from({ length: 6 }, () => ['error', 'MESSAGE_INVALID']),
  )
  expect((await hub.as().call('odd/give', { raw: PARTS })).forModel()).toBe(SHOWN.join('\n'))
})

test('[C5][B9] a result that is none is an error at the gateway', async () => {
  const { sandbox } = place()
  const servers = { odd: ownServer(sandbox, '{ give: 0 }', ODD) }
  const gateway = await up(sandbox, { servers, agents: AGENTS })
  for (const raw of NONE)
    expect(
      JSON.stringify(await gateway.ask('odd', 'tools/call', { name: 'give', arguments: { raw } })),
    ).toContain(SAID)
})

/** Says word for word what it is told to, under the id of the call. */
const RAW = `globalThis.seen = (method, params, line) => {
  const { raw } = params?.arguments ?? {}
  if (method === 'tools/call') process.stdout.write(raw.replaceAll('ID', JSON.parse(line).id) + '\\n')
}
globalThis.methods = { 'tools/call': () => new Promise(() => undefined) }`
const textOf = (said: string) =>
  `{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"${said}"}]}}`
const MORE = 'x'.repeat(2000)
const MUCH = 'x'.repeat(20_000)
const BROKEN: [string, string][] = [
  [
    'a result and an error',
    '{"jsonrpc":"2.0","id":ID,"result":{"content":[]},"error":{"code":1,"message":{}}}',
  ],
  ['an error in the middle', '{"result":{"content":[]},"error":{"code":1},"jsonrpc":"2.0","id":ID}'],
  ['two objects', textOf('a') + textOf('b')],
  ['two results', '{"jsonrpc":"2.0","id":ID,"result":{"text":"a"},"result":{"text":{}}}'],
  ['a text that is not closed', '{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"a}]}}'],
  ['a text that is closed twice', textOf('a"b')],
  ['an escape that there is not', textOf('a\\q')],
  ['a number that JSON does not have', '{"jsonrpc":"2.0","id":ID,"result":{"content":[],"text":{"a":NaN}}}'],
  ['two objects that are longer', textOf(MORE) + textOf(MORE)],
  ['an escape in a longer text', textOf(`${MORE}\\q`)],
  ['two objects that are larger', textOf(MUCH) + textOf(MUCH)],
]

for (const store of ['none', undefined] as const)
  test(`[B9] an answer that is no message fails a program's call${store ? ', also where nothing is recorded' : ', and the record says so'}`, async () => {
    const home = place()
    const config = { servers: { raw: ownServer(home.sandbox, '{ give: 0 }', RAW) } }
    const hub = await home.open(config, store ? { store } : {})
    const give = (raw: string) => hub.as().call('raw/give', { raw })
    // The first call finds its way, the others know it.
    for (const [what, raw] of BROKEN)
      for (const _ of [1, 2])
        expect([what, (await faultOf(give(raw))).code]).toEqual([what, 'MESSAGE_INVALID'])
    for (const said of ['fine \\"\\u0061\\"', 'é', MORE, MUCH])
      expect((await give(textOf(said))).text).toBe(JSON.parse(`"${said}"`))
    if (store) return
    await hub.flush()
    const calls = await hub.calls.list({ outcome: 'error' })
    expect(calls.map(({ code }) => code)).toEqual(
      BROKEN.flatMap(() => ['MESSAGE_INVALID', 'MESSAGE_INVALID']),
    )
    expect(await hub.calls.list({ outcome: 'ok' })).toHaveLength(4)
  })

test('[B9] an answer that is no message is an error at the gateway, too', async () => {
  const { sandbox } = place()
  const servers = { raw: ownServer(sandbox, '{ give: 0 }', RAW) }
  const gateway = await up(sandbox, { servers, agents: AGENTS })
  for (const [what, raw] of BROKEN) {
    const answer = await gateway.ask('raw', 'tools/call', { name: 'give', arguments: { raw } })
    expect([what, JSON.stringify(answer)]).toEqual([what, expect.stringContaining('MESSAGE_INVALID')])
  }
})

test('[B13][B9] a result says that the tool failed also where the word is written with escapes', async () => {
  const home = place()
  const servers = { raw: ownServer(home.sandbox, '{ give: 0 }', RAW) }
  const raw = textOf('no').replace('"result":{', '"result":{"is\\u0045rror":true,')
  const hub = await home.open({ servers })
  for (const _ of [1, 2]) expect((await hub.as().call('raw/give', { raw })).isError).toBe(true)
  await hub.flush()
  expect((await hub.calls.list({})).map(({ outcome }) => outcome)).toEqual(['error', 'error'])
  await hub.close()
  home.sandbox.write('busbar.json', JSON.stringify({ servers }))
  const said = await home.sandbox.run(['call', 'raw/give', `raw:=${JSON.stringify(raw)}`, '--trust'])
  expect(said.code).toBe(5)
})
