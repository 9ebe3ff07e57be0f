import { expect, test } from 'vitest'
import { hazardsOf, settingsHazards } from './hazards.ts'
import { serverSchema } from './schema-server.ts'

const hazards = (definition: object) => hazardsOf(serverSchema.parse(definition)).join('; ')

const cases: [object, RegExp][] = [
  [{ command: '/bin/sh', args: ['-c', 'x'] }, /runs a shell/],
  [{ command: 'node', args: ['-e', 'x'] }, /node -e/],
  [{ command: 'npx', args: ['-c', 'touch x'] }, /npx -c/],
  [{ command: 'python3', args: ['-c', 'x'] }, /python3 -c/],
  [{ command: 'docker', args: ['run', '--privileged', 'x'] }, /--privileged/],
  [{ command: 'docker', args: ['run', '-v', '/var/run/docker.sock:/s', 'x'] }, /docker\.sock/],
  [{ command: 'sudo', args: ['x'] }, /another user/],
  [
    { command: 'uvx', args: ['--from', 'git+https://example.com/x', 'x'] },
    /fetches its program from git\+https/,
  ],
  [{ command: 'npx', args: ['-y', 'pkg'] }, /newest \(not pinned\)/],
  [{ command: 'npx', args: ['-y', '@scope/pkg@latest'] }, /not pinned/],
  [{ command: 'env', args: ['A=b', 'bash', '-c', 'x'] }, /through env; runs a shell/],
  [{ command: 'python3.11', args: ['-c', 'x'] }, /python3\.11 -c/],
  [{ command: 'docker', args: ['run', '--network', 'host', 'x'] }, /--network host/],
  [{ command: 'docker', args: ['run', '-v', '/:/host', 'x'] }, /-v \/:/],
  [{ command: 'npx', args: ['--package=evil', 'foo@1.0.0'] }, /version of evil/],
  [{ command: 'pnpm', args: ['dlx', 'foo'] }, /version of foo/],
  [{ command: 'constructor', args: ['pkg'], envFile: '.env' }, /variables from \.env/],
  [{ url: 'http://localhost.evil.example/mcp' }, /unencrypted/],
  [{ url: 'http://127.evil.example/mcp' }, /unencrypted/],
  [{ command: 'x', env: { LD_PRELOAD: 'y' } }, /sets LD_PRELOAD/],
  [{ url: 'http://example.com/mcp' }, /unencrypted/],
  [{ command: 'x', approval: 'never' }, /never asks/],
  [{ command: 'x', approval: { 'get_*': 'allow' } }, /without asking: get_\*/],
  [{ command: 'x', trustAnnotations: true }, /harmless/],
]
for (const [definition, expected] of cases)
  test(`[C11] ${JSON.stringify(definition)} is pointed at`, () => {
    expect(hazards(definition)).toMatch(expected)
  })

for (const definition of [
  { command: 'npx', args: ['-y', '@scope/pkg@1.2.3', '/data'] },
  { command: 'uvx', args: ['mcp-server-git==2025.1.1'] },
  { command: 'node', args: ['server.js'] },
  { url: 'https://example.com/mcp' },
  { url: 'http://127.0.0.1:3000/mcp' },
  { command: 'x', env: { NODE_ENV: 'production' }, approval: 'writes' },
])
  test(`${JSON.stringify(definition)} is not`, () => {
    expect(hazards(definition)).toBe('')
  })

test('[C11] what the rest of a file would loosen or open is pointed at', () => {
  const found = settingsHazards({
    defaults: { approval: 'never' },
    gateway: { host: '0.0.0.0' },
    agents: { x: { approval: 'never', energy: 'unlimited', approver: 'client', servers: ['*'] }, y: {} },
    steward: { approval: 'never' },
  })
  expect(found).toHaveLength(7)
  expect(
    settingsHazards({ defaults: { approval: 'writes' }, gateway: { host: '127.0.0.1' }, agents: { y: {} } }),
  ).toEqual([])
})
