// `approver: client`: the person at the calling client is asked in that client's own dialogue, whatever it speaks and
// by whichever door it came in; and what they say is good for one call.

import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { expect, onTestFinished, test } from 'vitest'
import { serverCommand } from '../servers/start.ts'
import { BINARY, type Sandbox } from './cli.ts'
import { AGENTS, type Answer, type Gateway, ownServer, place, TOKEN, up } from './hub.ts'
import { WireClient } from './wire-client.ts'

const AGENT = { ...AGENTS.ada, approval: 'always', approver: 'client' }
const ALLOW = { action: 'accept', content: { decision: 'allow' } }
const TOOLS = '{ note: ({ text }) => { notes.push(text); return [...notes] } }'

interface Person {
  tool(name: string): Promise<Answer>
  call(text: string): Promise<Answer>
  /** What they do with the next questions. */
  answer: Answer
  /** What they were asked. */
  readonly asked: string[]
}

const KINDS = ['SDK v1 over http', 'SDK v1 over stdio', 'SDK v2, modern'] as const
type Kind = (typeof KINDS)[number]

async function sitDown(
  kind: Kind,
  gateway: Gateway,
  sandbox: Sandbox,
  capabilities: object = { elicitation: { form: {} } },
): Promise<Person> {
  const asked: string[] = []
  const heard = ({ params }: Answer) => {
    asked.push(params.message)
    return person.answer
  }
  const url = new URL(`${gateway.url}/mcp`)
  const http = { requestInit: { headers: { authorization: `Bearer ${TOKEN}` } } }
  let call: (given: { name: string; arguments: Record<string, unknown> }) => Promise<unknown>
  if (kind === 'SDK v2, modern') {
    const client = new ClientV2(
      { name: 'v2', version: '1' },
      { capabilities, versionNegotiation: { mode: 'auto' } },
    )
    if ('elicitation' in capabilities) client.setRequestHandler('elicitation/create', heard)
    await client.connect(new HttpV2(url, http))
    onTestFinished(() => client.close())
    call = (given) => client.callTool(given)
  } else {
    const client = new ClientV1({ name: 'v1', version: '1' }, { capabilities })
    if ('elicitation' in capabilities) client.setRequestHandler(ElicitRequestSchema, heard)
    const serve = ['serve', '--stdio', '--config', sandbox.path('team.json'), '--trust']
    const stdio = () =>
      new StdioClientTransport({
        command: process.execPath,
        args: [BINARY, ...serve],
        cwd: sandbox.project,
        env: sandbox.env({ BUSBAR_TOKEN: TOKEN }),
        stderr: 'ignore',
      })
    await client.connect((kind === 'SDK v1 over http' ? new HttpV1(url, http) : stdio()) as never)
    onTestFinished(() => client.close())
    call = (given) => client.callTool(given)
  }
  const person: Person = {
    tool: async (name) => (await call({ name: `mcp__own__${name}`, arguments: {} })) as Answer,
    call: async (text) => (await call({ name: 'mcp__own__note', arguments: { text } })) as Answer,
    answer: ALLOW,
    asked,
  }
  return person
}

async function desk(server?: object) {
  const { sandbox } = place()
  const own = server ?? ownServer(sandbox, TOOLS, 'const notes = []')
  const config = { servers: { own }, agents: { ada: AGENT }, approvals: { wait: 0 } }
  const gateway = await up(sandbox, config)
  const approve = async (...words: string[]) =>
    (await sandbox.run(['approve', ...words, '--json', '--config', sandbox.path('team.json')])).json
  const pending = async () => (await approve('list')).approvals as Answer[]
  return { sandbox, gateway, approve, pending }
}

const notes = ({ content }: Answer) => JSON.parse(content[0].text)
const code = ({ _meta }: Answer) => _meta?.['busbar/fault']?.code

for (const kind of KINDS) {
  test(`[D11] ${kind}: what is allowed in the client's own dialogue goes through once, and is asked about again`, async () => {
    const { sandbox, gateway, approve } = await desk()
    const person = await sitDown(kind, gateway, sandbox)
    expect(notes(await person.call('one'))).toEqual(['one'])
    expect(person.asked).toEqual([expect.stringMatching(/^ada wants to call own\/note[\s\S]*"one"/)])
    expect(notes(await person.call('one'))).toEqual(['one', 'one'])
    expect(person.asked).toHaveLength(2)
    // Two that are the same, at the same time, need two answers.
    const both = await Promise.all([person.call('two'), person.call('two')])
    expect(both.map((given) => notes(given).length).sort()).toEqual([3, 4])
    expect(person.asked).toHaveLength(4)
    const { approvals } = await approve('list', '--all')
    expect(approvals).toHaveLength(4)
    for (const approval of approvals) expect(approval).toMatchObject({ status: 'used', decidedBy: 'client' })
  })

  test(`[D11] ${kind}: what is declined is not made, and not asked about again`, async () => {
    const { sandbox, gateway } = await desk()
    const person = await sitDown(kind, gateway, sandbox)
    for (const answer of [{ action: 'decline' }, { action: 'accept', content: { decision: 'deny' } }]) {
      person.answer = answer
      const text = JSON.stringify(answer)
      const before = person.asked.length
      expect(code(await person.call(text))).toBe('APPROVAL_DENIED')
      expect(code(await person.call(text))).toBe('APPROVAL_DENIED')
      expect(person.asked.length - before).toBe(1)
    }
    person.answer = ALLOW
    expect(notes(await person.call('allowed'))).toEqual(['allowed'])
  })

  test(`[D11] ${kind}: a dialogue that is closed leaves it to the inbox, and what is allowed there goes through once`, async () => {
    const { sandbox, gateway, approve, pending } = await desk()
    const person = await sitDown(kind, gateway, sandbox)
    person.answer = { action: 'cancel' }
    expect(code(await person.call('one'))).toBe('APPROVAL_PENDING')
    const [approval] = await pending()
    await approve('allow', approval?.id)
    const before = person.asked.length
    expect(notes(await person.call('one'))).toEqual(['one'])
    expect(person.asked).toHaveLength(before)
    expect(code(await person.call('one'))).toBe('APPROVAL_PENDING')
    expect(person.asked).toHaveLength(before + 1)
  })

  test(`[D11] ${kind}: a client that cannot be asked has the inbox`, async () => {
    const { sandbox, gateway, approve, pending } = await desk()
    const person = await sitDown(kind, gateway, sandbox, {})
    expect(code(await person.call('one'))).toBe('APPROVAL_PENDING')
    const [approval] = await pending()
    await approve('allow', approval?.id)
    expect(notes(await person.call('one'))).toEqual(['one'])
    expect(code(await person.call('one'))).toBe('APPROVAL_PENDING')
    expect(person.asked).toEqual([])
  })
}

test('[D11] who allows it in the inbox first closes the dialogue at the client', async () => {
  const { gateway, approve, pending } = await desk()
  const client = await WireClient.open(gateway, '/mcp', { capabilities: { elicitation: {} } })
  const events = await client.begin('mcp__own__note', { text: 'one' })
  const { id } = await events.find('elicitation/create')
  const [approval] = await pending()
  await approve('allow', approval?.id)
  expect(notes((await events.find(1)).result)).toEqual(['one'])
  expect(events.of('notifications/cancelled')).toEqual([{ requestId: id }])
  // What the person says then comes too late for anything.
  expect(await client.answer(id, { action: 'decline' })).toBe(202)
  expect(await pending()).toEqual([])
})

for (const kind of KINDS)
  for (const era of ['legacy', 'modern'] as const)
    test(`[D11][C1] ${kind}: a person allows a call of a ${era} server that asks first once, not for every answer to it`, async () => {
      const { sandbox, gateway, approve } = await desk(serverCommand('elicit', { era }))
      const person = await sitDown(kind, gateway, sandbox)
      person.answer = { action: 'accept', content: { decision: 'allow', name: 'Ada' } }
      for (let round = 1; round <= 2; round++) {
        const given = JSON.parse((await person.tool('ask')).content[0].text)
        expect(given.content.name).toBe('Ada')
        expect(person.asked.slice(-2)).toEqual([
          expect.stringContaining('ada wants to call own/ask'),
          'Who are you?',
        ])
        expect(person.asked).toHaveLength(2 * round)
      }
      const { approvals } = await approve('list', '--all')
      expect(approvals.map(({ status }: Answer) => status)).toEqual(['used', 'used'])
    })
