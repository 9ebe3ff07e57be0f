// @ai-sdk/mcp: asks for the modern era by itself. Tools are called as its agents call them.
import { createMCPClient } from '@ai-sdk/mcp'
import { textOf } from '../text.mjs'

export async function connect({ url, token }) {
  const client = await createMCPClient({
    transport: { type: 'http', url, headers: { authorization: `Bearer ${token}` } },
  })
  const tools = await client.tools()
  return {
    version: client.initializeResult.protocolVersion,
    tools: async () => Object.keys(await client.tools()),
    call: async (name, given) => textOf(await tools[name].execute(given, { toolCallId: '1', messages: [] })),
    read: async (uri) => (await client.readResource({ uri })).contents[0].text,
    prompt: async (name, given) =>
      (await client.getPrompt({ name, arguments: given })).messages[0].content.text,
    close: () => client.close(),
  }
}
