import { expect, test } from 'vitest'
import type { OAuth } from '../../config/schema-server.ts'
import { refreshed } from './exchange-tokens.ts'
import type { Grant } from './grant.ts'

test('[C6] a renewed token that cannot be sent, or is bound to no key any more, is not kept', async () => {
  const grant: Grant = {
    server: 'https://mcp.example.com/mcp',
    issuer: 'https://login.example.com',
    metadata: {
      issuer: 'https://login.example.com',
      authorization_endpoint: 'https://login.example.com/authorize',
      token_endpoint: 'https://login.example.com/token',
      response_types_supported: ['code'],
    },
    client: { client_id: 'us' },
    access: 'before',
    refresh: 'again',
    isBound: true,
    obtained: 0,
  }
  const settings: OAuth = { type: 'oauth', grant: 'authorization_code' }
  const given = (tokens: object) => async () => Response.json({ access_token: 'x', ...tokens })
  const next = (tokens: object, from = grant) =>
    refreshed({ server: grant.server, settings, fetch: given(tokens) }, from, undefined)
  await expect(next({ token_type: 'Bearer' })).rejects.toThrow('bound to no key')
  await expect(next({ token_type: 'DPoP', access_token: 'a\nb' })).rejects.toThrow('cannot be sent')
  expect(await next({ token_type: 'Bearer' }, { ...grant, isBound: false })).toMatchObject({ access: 'x' })
})
