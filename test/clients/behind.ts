// The built gateway before real servers, and what is asked of each of them.

import { once } from 'node:events'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { startFixture } from '../conformance/processes.ts'
import type { Sandbox } from '../e2e/cli.ts'
import { type Gateway, gatewayOf } from '../e2e/hub.ts'
import type { Step } from './driven.ts'

export const TOKEN = 'client-token-5d1c0b7e9a42'

export interface Task extends Step {
  readonly server: string
  /** Part of what comes back. */
  readonly expected: string
}

/** One after the other: some change what the next one sees. */
export const TASKS: readonly Task[] = [
  { server: 'everything', do: 'tools', expected: 'get-sum' },
  {
    server: 'everything',
    do: 'call',
    name: 'get-sum',
    arguments: { a: 2, b: 40 },
    expected: 'The sum of 2 and 40 is 42.',
  },
  {
    server: 'everything',
    do: 'progress',
    name: 'trigger-long-running-operation',
    arguments: { duration: 0.2, steps: 3 },
    expected: 'Steps: 3',
  },
  {
    server: 'everything',
    do: 'read',
    uri: 'demo://resource/static/document/features.md',
    expected: '# Everything Server - Features',
  },
  {
    server: 'everything',
    do: 'prompt',
    name: 'args-prompt',
    arguments: { city: 'Bern' },
    expected: "What's weather in Bern?",
  },
  {
    server: 'memory',
    do: 'call',
    name: 'create_entities',
    arguments: {
      entities: [{ name: 'Ada', entityType: 'person', observations: ['wrote the first program'] }],
    },
    expected: 'Ada',
  },
  { server: 'memory', do: 'call', name: 'read_graph', arguments: {}, expected: 'wrote the first program' },
  { server: 'memory', do: 'tools', expected: 'search_nodes' },
  { server: 'fixture', do: 'tools', expected: 'test_simple_text' },
  {
    server: 'fixture',
    do: 'call',
    name: 'test_simple_text',
    arguments: {},
    expected: 'This is a simple text response for testing.',
  },
  {
    server: 'fixture',
    do: 'read',
    uri: 'test://static-text',
    expected: 'This is the content of the static text resource.',
  },
  {
    server: 'fixture',
    do: 'prompt',
    name: 'test_prompt_with_arguments',
    arguments: { arg1: 'one', arg2: 'two' },
    expected: "arg1='one', arg2='two'",
  },
]

const everything: object = { command: process.execPath, args: [program('everything')] }

/** Two servers as processes of the gateway, and one that listens and speaks both eras. */
export async function realServers(sandbox: Sandbox): Promise<Record<string, object>> {
  const fixture = await startFixture()
  onTestFinished(fixture.close)
  return {
    everything,
    memory: {
      command: process.execPath,
      args: [program('memory')],
      env: { MEMORY_FILE_PATH: sandbox.path('memory.jsonl') },
    },
    fixture: { type: 'http', url: fixture.url },
  }
}

/** `busbar up` with one agent that may use everything. It ends with the test, or when told. */
export async function startGateway(
  sandbox: Sandbox,
  servers: Record<string, object>,
  port = 0,
): Promise<Gateway> {
  const agents = { ada: { servers: ['*'], token: '${ADA_TOKEN}', approval: 'never', surface: 'full' } }
  const config = sandbox.write('team.json', JSON.stringify({ servers, agents }))
  const args = ['up', '--port', String(port), '--json', '--config', config, '--trust']
  const child = sandbox.start(args, { env: { ADA_TOKEN: TOKEN } })
  const ended = once(child, 'close')
  onTestFinished(async () => {
    child.kill('SIGTERM')
    await ended
  })
  return await gatewayOf(child, ended)
}

// --- internal ---

function program(name: string): string {
  const manifest = createRequire(import.meta.url).resolve(`@modelcontextprotocol/server-${name}/package.json`)
  return join(dirname(manifest), 'dist', 'index.js')
}
