// Many questions answered with one command: no is said to all that wait, yes to none.

import { expect, test } from 'vitest'
import { serverCommand } from '../servers/start.ts'
import { AGENTS, type Gateway, place, TOKEN, until, up } from './hub.ts'

const plain = serverCommand('plain')
const OTHER = 'the-token-of-eve'
const ASKING = { servers: ['*'], approval: 'always' }
const CONFIG = {
  servers: { plain },
  agents: { ada: { ...AGENTS.ada, ...ASKING }, eve: { ...ASKING, token: OTHER } },
  approvals: { wait: 0 },
}

/** The code with which a call of `echo` is refused. */
async function refusal(gateway: Gateway, text: string, token = TOKEN): Promise<string> {
  const params = { name: 'echo', arguments: { text } }
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
  const answer = await gateway.post('/mcp/plain', body, { authorization: `Bearer ${token}` })
  const { result } = (await answer.json()) as { result: { _meta: Record<string, { code: string }> } }
  return result._meta['busbar/fault']?.code ?? ''
}

for (const where of ['at the gateway', 'in the store'])
  test(`[D11] all that an agent asks is denied with one command ${where}, and nothing else is`, async () => {
    const { sandbox } = place()
    const gateway = await up(sandbox, CONFIG)
    const texts = Array.from({ length: 40 }, (_, index) => `question ${index}`)
    for (const text of texts) expect(await refusal(gateway, text)).toBe('APPROVAL_PENDING')
    expect(await refusal(gateway, 'mine', OTHER)).toBe('APPROVAL_PENDING')
    if (where === 'in the store') {
      gateway.child.kill('SIGTERM')
      await until(() => gateway.child.exitCode !== null)
    }
    const approve = (...words: string[]) =>
      sandbox.run(['approve', ...words, '--config', sandbox.path('team.json')])
    const { code, stdout } = await approve('deny', '--all', '--agent', 'ada')
    expect([code, stdout]).toEqual([0, 'Denied 40 questions of ada.\n'])
    const left = (await approve('list', '--json')).json.approvals
    expect(left.map(({ agent, status }: Record<string, string>) => [agent, status])).toEqual([
      ['eve', 'pending'],
    ])
    if (where === 'at the gateway') expect(await refusal(gateway, texts[7] as string)).toBe('APPROVAL_DENIED')
    expect((await approve('deny', '--all', '--json')).json.denied).toHaveLength(1)
    expect((await approve('deny', '--all')).stdout).toBe('Nothing waits for an answer.\n')
  })

test.each([
  [['deny'], 'which question?', 'busbar approve deny ID, or: --all'],
  [['deny', '--agent', 'ada'], '--agent goes with --all', 'run: busbar approve deny --all --agent ada'],
  [['deny', '3f2a9c01', '--all'], 'either an id or --all', 'leave one of them out'],
  [['deny', '--all', '--remember', 'tool'], '--remember is said of one question', expect.any(String)],
  [['allow', '--all'], expect.stringContaining('--all'), expect.any(String)],
])('[D11] approve %j is told how it is meant', async (words, message, hint) => {
  const { sandbox } = place()
  sandbox.write('team.json', JSON.stringify({ servers: {} }))
  const { code, error } = await sandbox.run(['approve', ...words, '--json'])
  expect([code, error.message, error.hint]).toEqual([1, message, hint])
})
