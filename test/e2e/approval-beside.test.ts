// What a call brings beside its arguments is part of what a person allows.

import { expect, test } from 'vitest'
import { serverCommand } from '../servers/start.ts'
import { type Answer, entry, place, TOKEN, up } from './hub.ts'
import { modern } from './wire-client.ts'

/** A gateway on which everything is asked about, and calls by a modern client. */
async function asked(server: object) {
  const { sandbox } = place()
  const gateway = await up(sandbox, {
    servers: { s: server },
    agents: { ada: { servers: ['*'], token: TOKEN } },
    approvals: { wait: 0 },
  })
  const call = async (name: string, args: object, more: object = {}): Promise<Answer> => {
    const capabilities = { elicitation: { form: {} } }
    const params = { name, arguments: args, ...more }
    const asking = await modern(gateway, '/mcp/s', 'tools/call', params, { name, capabilities })
    return (await asking.answer()).result
  }
  const allow = (id: string) => sandbox.run(['approve', 'allow', id])
  return { sandbox, call, allow }
}

/** Which question a call was told to wait for; undefined when it was made. */
const questionOf = (result: Answer): string | undefined => result._meta?.['busbar/fault']?.approval

test('[D11] a call that brings more than was allowed is another question, and the person sees it', async () => {
  const { sandbox, call, allow } = await asked(serverCommand('plain', { era: 'modern' }))
  const question = questionOf(await call('echo', { text: 'hi' })) ?? expect.fail()
  const tries = [
    { extra: { danger: true } },
    { task: { ttl: 5 } },
    { inputResponses: { q: { action: 'accept', content: { amount: '9999' } } }, requestState: 'forged' },
  ]
  const others: string[] = []
  for (const more of tries) others.push(questionOf(await call('echo', { text: 'hi' }, more)) ?? expect.fail())
  expect(new Set([question, ...others]).size).toBe(4)
  await allow(question)
  for (const [index, more] of tries.entries())
    expect(questionOf(await call('echo', { text: 'hi' }, more))).toBe(others[index])
  const shown = (await sandbox.run(['approve', 'list'])).stdout
  for (const word of ['danger', 'ttl', '9999', 'forged']) expect(shown).toContain(word)
  // What was allowed is still there, for what was allowed.
  expect((await call('echo', { text: 'hi' })).content[0].text).toBe('hi')
  await allow(others[0] ?? '')
  expect((await call('echo', { text: 'hi' }, tries[0])).content[0].text).toBe('hi')
  const { calls } = (await sandbox.run(['usage', '--calls', '--json'])).json
  expect(calls[0].arguments).toContain('danger')
})

test('[D11] the answer to a question of the server needs no second permission, once the server has asked', async () => {
  const { call, allow, sandbox } = await asked(await entry('stdio', 'elicit', { era: 'modern' }))
  const question = questionOf(await call('ask', {})) ?? expect.fail()
  await allow(question)
  const { inputRequests, requestState } = await call('ask', {})
  const [key = ''] = Object.keys(inputRequests)
  const again = {
    inputResponses: { [key]: { action: 'accept', content: { name: 'Ada' } } },
    ...(requestState === undefined ? {} : { requestState }),
  }
  const done = await call('ask', {}, again)
  expect(done.content[0].text).toContain('Ada')
  const { stdout } = await sandbox.run(['usage', '--calls', '--json'])
  expect([stdout.includes('s/ask') || stdout.includes('"ask"'), stdout.includes('inputResponses')]).toEqual([
    true,
    false,
  ])
  // It was used up.
  expect(questionOf(await call('ask', {}, again))).toBeDefined()
})
