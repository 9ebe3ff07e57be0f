// Every client with every server: both eras on either side, over both kinds of wire, with all that happens in between.

import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { expect, onTestFinished, test } from 'vitest'
import { AGENTS, type Answer, entry, place, TOKEN, until, up } from './hub.ts'

const ROOTS = { roots: [{ uri: 'file:///tmp/here' }] }
const SAID = { role: 'assistant', content: { type: 'text', text: 'Paris' }, model: 'm' }
const capabilities = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} }

interface TestClient {
  call(name: string, given?: object, onProgress?: (progress: Answer) => void): Promise<Answer>
  /** What the person answers the next time. */
  answer: object
  /** How often it was told that the tools changed. */
  changes(): number
  tools(): Promise<string[]>
}

type Kind = 'SDK v1' | 'SDK v2, legacy' | 'SDK v2, modern'

async function connect(kind: Kind, url: string): Promise<TestClient> {
  const options = { requestInit: { headers: { authorization: `Bearer ${TOKEN}` } } }
  let changes = 0
  if (kind === 'SDK v1') {
    const client = new ClientV1({ name: 'v1', version: '1' }, { capabilities })
    const own: TestClient = {
      call: (name, given = {}, onprogress) =>
        client.callTool({ name, arguments: { ...given } }, undefined, onprogress ? { onprogress } : {}),
      answer: {},
      changes: () => changes,
      tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    }
    client.setRequestHandler(ElicitRequestSchema, () => own.answer as Answer)
    client.setRequestHandler(CreateMessageRequestSchema, () => SAID as Answer)
    client.setRequestHandler(ListRootsRequestSchema, () => ROOTS)
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => void changes++)
    await client.connect(new HttpV1(new URL(url), options))
    onTestFinished(() => client.close())
    return own
  }
  const mode = kind === 'SDK v2, modern' ? 'auto' : 'legacy'
  const client = new ClientV2(
    { name: 'v2', version: '1' },
    {
      capabilities,
      versionNegotiation: { mode },
      listChanged: { tools: { onChanged: () => void changes++ } },
    },
  )
  const own: TestClient = {
    call: (name, given = {}, onprogress) =>
      client.callTool({ name, arguments: { ...given } }, onprogress ? { onprogress } : {}),
    answer: {},
    changes: () => changes,
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
  }
  client.setRequestHandler('elicitation/create', () => own.answer as Answer)
  client.setRequestHandler('sampling/createMessage', () => SAID as Answer)
  client.setRequestHandler('roots/list', () => ROOTS)
  await client.connect(new HttpV2(new URL(url), options))
  expect(client.getProtocolEra()).toBe(mode === 'auto' ? 'modern' : 'legacy')
  onTestFinished(() => client.close())
  return own
}

const text = ({ content }: Answer) => JSON.parse(content[0].text)

for (const era of ['legacy', 'modern'] as const)
  for (const wire of ['stdio', 'http'] as const)
    test(`[C1] every client with a ${era} server over ${wire}: calls, progress, questions, changed lists`, async () => {
      const servers = {
        elicit: await entry(wire, 'elicit', { era }),
        changing: await entry(wire, 'changing', { era }),
      }
      const gateway = await up(place().sandbox, { servers, agents: AGENTS })
      for (const kind of ['SDK v1', 'SDK v2, legacy', 'SDK v2, modern'] as const)
        for (const [path, elicit, changing] of [
          ['/mcp/elicit', '', undefined],
          ['/mcp/changing', undefined, ''],
          ['/mcp', 'mcp__elicit__', 'mcp__changing__'],
        ] as const) {
          const client = await connect(kind, gateway.url + path)
          const about = (what: string, value: unknown) => [kind, path, what, value]
          if (elicit !== undefined) {
            const said = await client.call(`${elicit}echo`, { text: 'hello' })
            expect(about('call', JSON.stringify(said.content).includes('hello'))).toEqual(about('call', true))
            const steps: Answer[] = []
            await client.call(`${elicit}progress`, { steps: 3 }, (progress) => steps.push(progress.progress))
            expect(about('progress', steps.length > 0)).toEqual(about('progress', true))
            for (const answer of [
              { action: 'accept', content: { name: 'Ada', age: 36 } },
              { action: 'decline' },
              { action: 'cancel' },
            ]) {
              client.answer = answer
              const given = text(await client.call(`${elicit}ask`))
              expect(about(answer.action, given)).toEqual(
                about(answer.action, expect.objectContaining(answer)),
              )
            }
            expect(about('sampling', text(await client.call(`${elicit}sample`)))).toEqual(
              about('sampling', expect.objectContaining({ model: 'm' })),
            )
            expect(about('roots', text(await client.call(`${elicit}roots`)))).toEqual(about('roots', ROOTS))
          }
          if (changing !== undefined) {
            await client.tools()
            const before = client.changes()
            await client.call(`${changing}change`, { kind: 'add' })
            await until(() => client.changes() > before)
          }
        }
    })
