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
