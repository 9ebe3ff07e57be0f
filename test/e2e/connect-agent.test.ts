// The agent that `busbar connect` makes for a client: in which file it stands, and where it is known.

import { expect, test } from 'vitest'
import { serverCommand } from '../servers/start.ts'
import { Sandbox } from './cli.ts'
import { type Answer, userFile } from './hub.ts'

const plain = serverCommand('plain')

test('[C11] the agent of a user’s client is known in every folder, with servers of the project in the project', async () => {
  const sandbox = new Sandbox()
  sandbox.write(userFile(sandbox), JSON.stringify({ servers: { plain } }))
  sandbox.write('busbar.yaml', JSON.stringify({ servers: { own: plain } }))
  await sandbox.run(['trust', '--yes'])
  const made = await sandbox.run(['connect', 'zed', '--servers', 'plain,own', '--yes'])
  expect([made.code, made.stderr]).toEqual([0, expect.stringContaining('config.yaml')])
  const serversIn = async (cwd: string) => {
    const { json } = await sandbox.run(['agents', 'list', '--json'], { cwd })
    return json.agents.find((it: Answer) => it.name === 'zed')?.servers
  }
  expect(await serversIn(sandbox.project)).toEqual(['plain', 'own'])
  expect(await serversIn(sandbox.root)).toEqual(['plain'])
  const project = await sandbox.run(['connect', 'vscode', '-s', 'project', '--servers', 'own', '--yes'])
  expect(project.code).toBe(0)
  expect(sandbox.read('busbar.yaml')).toContain('vscode')
  expect(sandbox.read(userFile(sandbox))).not.toContain('vscode')
  // One that was there before, and only here.
  const before = await sandbox.run(['connect', 'cursor', '--agent', 'vscode', '--yes'])
  expect(before.stderr).toContain('busbar agents add vscode --scope user')
})
