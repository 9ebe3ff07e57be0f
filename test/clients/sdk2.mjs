// The official client, version 2, over streamable HTTP, in the era that its options ask for.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { textOf } from './text.mjs'

export async function connectIn(mode, { url, token }) {
  const client = new Client({ name: 'busbar-test-sdk2', version: '1.0.0' }, { versionNegotiation: { mode } })
  const requestInit = { headers: { authorization: `Bearer ${token}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }))
  return {
    version: client.getNegotiatedProtocolVersion(),
    tools: async () => (await client.listTools()).tools.map((tool) => tool.name),
    call: async (name, given, onprogress) =>
      textOf(await client.callTool({ name, arguments: given }, onprogress && { onprogress })),
    read: async (uri) => (await client.readResource({ uri })).contents[0].text,
    prompt: async (name, given) =>
      (await client.getPrompt({ name, arguments: given })).messages[0].content.text,
    close: () => client.close(),
  }
}
