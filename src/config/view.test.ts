import { expect, test } from 'vitest'
import { isSecretName, isSecretValue } from '../base/redact.ts'
import { maskSecrets } from './view.ts'

const M = '••••••'

test('[B2] literals under env and headers are masked, references are not', () => {
  expect(
    maskSecrets({
      env: { A: 'hunter2', B: '${B}', PORT: '3000', ON: 'true', EMPTY: '', DIR: '${workspaceFolder}/data' },
      headers: { Authorization: 'Bearer ${TOKEN}', Cookie: 'session=abc', X: 'Bearer hunter2' },
    }),
  ).toEqual({
    env: { A: M, B: '${B}', PORT: '3000', ON: 'true', EMPTY: '', DIR: '${workspaceFolder}/data' },
    headers: { Authorization: 'Bearer ${TOKEN}', Cookie: M, X: M },
  })
})

test('[B2] secrets in arguments, addresses and sign-in are masked', () => {
  expect(
    maskSecrets({
      args: ['--api-key', 'abc', '--token=def', '--dir', '/tmp', 'KEY=x', '--api-key', '${KEY}'],
      url: 'https://user:pass@example.com/mcp?api_key=abc&page=2',
      auth: { type: 'api_key', headerName: 'X-API-Key', apiKey: 'abc' },
      token: 'abc',
      store: 'postgres://me:pw@localhost/db',
    }),
  ).toEqual({
    args: ['--api-key', M, `--token=${M}`, '--dir', '/tmp', `KEY=${M}`, '--api-key', '${KEY}'],
    url: `https://user:${M}@example.com/mcp?api_key=${M}&page=2`,
    auth: { type: 'api_key', headerName: 'X-API-Key', apiKey: M },
    token: M,
    store: `postgres://me:${M}@localhost/db`,
  })
})

test('ordinary definitions stay readable', () => {
  const plain = {
    command: 'npx',
    args: ['-y', '@modelcontextprotocol/server-filesystem@2026.8.31', '/home/ada/work'],
    description: 'GitHub -- code, issues, PRs',
    approval: { 'get_*': 'allow' },
  }
  expect(maskSecrets(plain)).toEqual(plain)
})

for (const name of [
  'GITHUB_TOKEN',
  'apiKey',
  'API-KEY',
  'Authorization',
  'DB_PASSWORD',
  'clientSecret',
  'STRIPE_SECRET_KEY',
  'SLACK_BOT_TOKEN',
])
  test(`${name} names a secret`, () => {
    expect(isSecretName(name)).toBe(true)
  })
for (const name of ['NODE_ENV', 'PORT', 'author', 'headerName', 'tokenPath', 'keyboard', 'PATH'])
  test(`${name} does not name a secret`, () => {
    expect(isSecretName(name)).toBe(false)
  })
for (const value of [
  'ghp_abcdefghijklmnopqrst',
  'sk-ant-abcdefghijklmnop',
  'xoxb-1234567890-abc',
  'postgres://a:b@h/d',
  'Zm9vYmFyMTIzNDU2Nzg5MGFiY2RlZg',
])
  test(`a value like ${value.slice(0, 6)}… looks like a secret`, () => {
    expect(isSecretValue(value)).toBe(true)
  })
for (const value of [
  'production',
  '@modelcontextprotocol/server-github',
  '/usr/local/bin/node',
  'https://example.com/mcp',
  '2026.8.31',
])
  test(`${value} does not look like a secret`, () => {
    expect(isSecretValue(value)).toBe(false)
  })
