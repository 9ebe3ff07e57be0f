// Two agents with one token: whoever shows it could be either.

import { expect, test } from 'vitest'
import { Sandbox } from './cli.ts'

test('[C11][A8] two agents with one token are found with their places, and keep the gateway from starting', async () => {
  const sandbox = new Sandbox()
  const file = sandbox.write(
    'busbar.yaml',
    'agents:\n  ada:\n    token: same-token\n  eve:\n    token: ${EVE_TOKEN}\n',
  )
  const env = { EVE_TOKEN: 'same-token' }
  const place5 = `${file}:5: agents.eve.token is the same as agents.ada.token (${file}:3); give each agent a token of its own`
  await sandbox.run(['trust', '--yes'], { env })
  for (const words of [
    ['config', 'check'],
    ['doctor', '--no-start'],
    ['up', '--port', '0'],
  ]) {
    const { code, stdout, stderr } = await sandbox.run(words, { env })
    expect(code).toBe(1)
    expect(stdout + stderr).toContain(place5)
    expect(stdout + stderr).not.toContain('same-token')
  }
  expect((await sandbox.run(['config', 'check'], { env: { EVE_TOKEN: 'another' } })).code).toBe(0)
})
