// The official client, version 1, over streamable HTTP.
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { textOf } from '../text.mjs'

export async function connect({ url, token }) {
  const requestInit = { headers: { authorization: `Bearer ${token}` } }
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit })
  const face = await faceOf(transport)
  return { ...face, version: transport.protocolVersion }
}

/** The same client over any transport. */
export async function faceOf(transport) {
  const client = new Client({ name: 'busbar-test-sdk1', version: '1.0.0' })
  await client.connect(transport)
  return {
    tools: async () => (await client.listTools()).tools.map((tool) => tool.name),
    call: async (name, given, onprogress) =>
      textOf(await client.callTool({ name, arguments: given }, undefined, onprogress && { onprogress })),
    read: async (uri) => (await client.readResource({ uri })).contents[0].text,
    prompt: async (name, given) =>
      (await client.getPrompt({ name, arguments: given })).messages[0].content.text,
    close: () => client.close(),
  }
}
