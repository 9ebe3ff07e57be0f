// Either generation of client on all servers of an agent.

import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ElicitRequestSchema, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { onTestFinished } from 'vitest'
import { type Answer, type Gateway, TOKEN } from './hub.ts'

const capabilities = { elicitation: {} }
const ACCEPTED = { action: 'accept' as const, content: { name: 'Ada', age: 36 } }

export interface Seen {
  names(): Promise<string[]>
  call(
    name: string,
    given: object,
    onprogress?: (progress: number) => void,
    signal?: AbortSignal,
  ): Promise<Answer>
  instructions(): string | undefined
  /** How often it was told that its list of tools changed, from now on. */
  watch(): Promise<() => number>
}

/** Either generation of client on `/mcp`. */
export async function connect(kind: 'v1' | 'v2 modern', { url }: Gateway, token = TOKEN): Promise<Seen> {
  const options = { requestInit: { headers: { Authorization: `Bearer ${token}` } } }
  const address = new URL(`${url}/mcp`)
  let told = 0
  if (kind === 'v1') {
    const client = new ClientV1({ name: 'one', version: '1' }, { capabilities })
    client.setRequestHandler(ElicitRequestSchema, () => ACCEPTED)
    // The v1 types were not written for exactOptionalPropertyTypes.
    await client.connect(new HttpV1(address, options) as Parameters<ClientV1['connect']>[0])
    onTestFinished(() => client.close())
    return {
      names: async () => (await client.listTools()).tools.map(({ name }) => name),
      call: (name, given, onprogress, signal) =>
        client.callTool({ name, arguments: { ...given } }, undefined, {
          ...(onprogress && { onprogress: ({ progress }) => onprogress(progress) }),
          ...(signal && { signal }),
        }),
      instructions: () => client.getInstructions(),
      watch: async () => {
        client.setNotificationHandler(ToolListChangedNotificationSchema, () => void told++)
        return () => told
      },
    }
  }
  const client = new ClientV2(
    { name: 'two', version: '1' },
    { capabilities, versionNegotiation: { mode: { pin: '2026-07-28' } } },
  )
  client.setRequestHandler('elicitation/create', () => ACCEPTED)
  await client.connect(new HttpV2(address, options))
  onTestFinished(() => client.close())
  return {
    names: async () => (await client.listTools({}, { cacheMode: 'refresh' })).tools.map(({ name }) => name),
    call: (name, given, onprogress, signal) =>
      client.callTool(
        { name, arguments: { ...given } },
        {
          ...(onprogress && { onprogress: ({ progress }) => onprogress(progress) }),
          ...(signal && { signal }),
        },
      ),
    instructions: () => client.getInstructions(),
    watch: async () => {
      client.setNotificationHandler('notifications/tools/list_changed', () => void told++)
      await client.listen({ toolsListChanged: true })
      return () => told
    },
  }
}

/** All text of a result. */
export const textOf = (result: Answer): string => result.content.map(({ text }: Answer) => text).join('\n')
