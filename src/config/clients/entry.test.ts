import { expect, test } from 'vitest'
import { leadsToUs, readOwnEntry } from './entry.ts'

test('an entry of ours is known in any client’s words, and nobody else’s is taken for one', () => {
  const token = 'busbar_secret'
  for (const [entry, kind] of [
    [{ url: 'http://127.0.0.1:1/mcp', headers: { Authorization: `Bearer ${token}` } }, 'http'],
    [{ serverUrl: 'http://127.0.0.1:1/mcp/github', headers: { authorization: `bearer ${token}` } }, 'http'],
    [{ httpUrl: 'http://x:1/mcp/', headers: { Authorization: `Bearer ${token}` } }, 'http'],
    [{ url: 'http://x:1/mcp', http_headers: { Authorization: `Bearer ${token}` } }, 'http'],
    [{ uri: 'http://x:1/mcp', headers: { Authorization: `Bearer ${token}` } }, 'http'],
    [{ command: 'busbar', args: ['serve', '--stdio'], env: { BUSBAR_TOKEN: token } }, 'stdio'],
    [{ command: ['busbar', 'serve', '--stdio'], environment: { BUSBAR_TOKEN: token } }, 'stdio'],
    [{ cmd: 'busbar', args: ['serve', '--stdio'], envs: { BUSBAR_TOKEN: token } }, 'stdio'],
  ] as const) {
    expect(readOwnEntry(entry)).toMatchObject({ kind, token })
    expect(leadsToUs(entry)).toBe(true)
  }
  for (const entry of [
    undefined,
    'text',
    { url: 'https://example.com/sse', headers: { Authorization: `Bearer ${token}` } },
    { url: 'https://example.com/mcp', headers: { Authorization: 'Bearer somebody-else' } },
    { url: 'no address' },
    { command: 'npx', args: ['serve'] },
  ])
    expect(leadsToUs(entry)).toBe(false)
})
