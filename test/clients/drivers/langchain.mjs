// @langchain/mcp-adapters: tools as LangChain's agents call them; prompts through the client it hands out.
import { MultiServerMCPClient } from '@langchain/mcp-adapters'

export async function connect({ url, token }) {
  let watcher
  const client = new MultiServerMCPClient({
    mcpServers: { busbar: { transport: 'http', url, headers: { authorization: `Bearer ${token}` } } },
    onProgress: (progress) => watcher?.(progress),
  })
  const tools = await client.getTools()
  return {
    tools: async () => tools.map((tool) => tool.name),
    async call(name, given, onProgress) {
      watcher = onProgress
      const value = await tools.find((tool) => tool.name === name).invoke(given)
      // Where a tool gives structured content, LangChain hands that out.
      return typeof value === 'string' ? value : JSON.stringify(value)
    },
    read: async (uri) => (await client.readResource('busbar', uri))[0].text,
    async prompt(name, given) {
      const inner = await client.getClient('busbar')
      return (await inner.getPrompt({ name, arguments: given })).messages[0].content.text
    },
    close: () => client.close(),
  }
}
