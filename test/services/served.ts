// A sandbox with servers in its configuration, all of them trusted, that fails its test when a process of it is left.

import { expect, onTestFinished } from 'vitest'
import { Sandbox } from '../e2e/cli.ts'
import { processesOf } from './processes.ts'

export async function served(
  servers: Readonly<Record<string, object>>,
  more: Readonly<Record<string, unknown>> = {},
): Promise<Sandbox> {
  const sandbox = new Sandbox()
  onTestFinished(() => expect(processesOf(sandbox.root)).toEqual([]))
  // JSON is YAML.
  sandbox.write('busbar.yaml', JSON.stringify({ servers, ...more }, null, 2))
  const { code, stderr } = await sandbox.run(['trust', '--yes'])
  expect([code, stderr]).toEqual([0, expect.any(String)])
  return sandbox
}
