// What a program says before it dies, as people are told it.

import { expect, test } from 'vitest'
import { place } from './hub.ts'

test('[B13] a program that dies of an error is told by that error', async () => {
  const { sandbox } = place()
  const command = { command: process.execPath, args: ['-e', "throw new Error('API_KEY is not set')"] }
  sandbox.write('busbar.yaml', JSON.stringify({ servers: { s: command } }))
  const { code, stderr } = await sandbox.run(['call', 's/x', '--trust', '--config', 'busbar.yaml'])
  expect(code).toBe(4)
  expect(stderr).toContain('it said: Error: API_KEY is not set')
})

test('[C11][B13] a secret in what a program says last is masked before anything is cut', async () => {
  const { sandbox } = place()
  const script = "process.stderr.write('x'.repeat(480) + process.env.KEY + ' end\\n'); process.exitCode = 1"
  const server = { command: process.execPath, args: ['-e', script], env: { KEY: '${KEY}' } }
  sandbox.write('busbar.yaml', JSON.stringify({ servers: { s: server } }))
  const env = { KEY: 'S3cretValueAbcdefghijklmnop' }
  const { stderr } = await sandbox.run(['call', 's/x', '--trust', '--config', 'busbar.yaml'], { env })
  expect(stderr).toContain('it said: xxx')
  expect(stderr).not.toContain('S3cret')
})
