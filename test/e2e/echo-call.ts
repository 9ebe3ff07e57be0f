// One call of `echo` at the gateway, and what became of it in a word.

import { type Gateway, TOKEN } from './hub.ts'

/** The status of a call, and the code of what it was refused with. */
export async function call(gateway: Gateway, token = TOKEN): Promise<string> {
  const answer = await gateway.post(
    '/mcp/plain',
    { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'echo', arguments: { text: 'x' } } },
    { authorization: `Bearer ${token}` },
  )
  const body = await answer.text()
  if (answer.status !== 200) return String(answer.status)
  const { result, error } = JSON.parse(body)
  return error?.data.code ?? (result.isError ? result._meta['busbar/fault'].code : 'ok')
}
