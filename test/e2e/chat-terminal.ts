// Somebody at `busbar chat`: a place with models, a terminal of its own, and what the gateway has kept.

import { request } from 'node:http'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Answer } from '../servers/models/answers.ts'
import { type ModelEndpoint, type Script, startModels } from '../servers/models/endpoint.ts'
import { serverCommand } from '../servers/start.ts'
import { BINARY, type Sandbox } from './cli.ts'
import { place } from './hub.ts'
import { type Terminal, terminal } from './terminal.ts'

export const CONFIG = {
  servers: { plain: serverCommand('plain') },
  agents: { ada: { servers: ['*'], approval: 'never', energy: { capacity: 100, recovery: 0 } } },
  agent: { workspace: 'notes' },
}
export const ASKING = { ...CONFIG, agents: { ada: { servers: ['*'], approval: 'always' } } }

export interface Room {
  readonly sandbox: Sandbox
  readonly models: ModelEndpoint
  readonly env: Record<string, string>
}

export async function room(script: Script | Answer[], config: object = CONFIG): Promise<Room> {
  const { sandbox } = place()
  const models = await startModels(script)
  onTestFinished(() => models.close())
  sandbox.write('busbar.json', JSON.stringify(config))
  sandbox.write('notes/a.txt', 'milk and bread\n')
  const env = {
    OPENAI_BASE_URL: models.url,
    BUSBAR_MODEL: 'big',
    TERM: 'xterm',
    SHELL: '/bin/sh',
    NO_COLOR: '1',
  }
  return { sandbox, models, env }
}

/** On a terminal of its own. */
export function chat({ sandbox, env }: Room, words: readonly string[] = ['--trust']): Terminal {
  return terminal(sandbox, `exec "${process.execPath}" "${BINARY}" chat ${words.join(' ')}`, env)
}

export const PROMPT = '› '

/** What the gateway answers to its owner. */
async function got({ sandbox }: Room, path: string): Promise<string> {
  const socket = join(sandbox.home, '.local/state/busbar/gateway.sock')
  return await new Promise((resolve, reject) => {
    const asked = request({ socketPath: socket, path, headers: { host: 'localhost' } }, (response) => {
      let text = ''
      response.on('data', (data) => (text += data)).on('end', () => resolve(text))
    })
    asked.on('error', reject).end()
  })
}

export async function kept(held: Room): Promise<{ id: string }[]> {
  return JSON.parse(await got(held, '/api/conversations')).conversations
}

/** All that is kept of the latest conversation, as text. */
export async function listed(held: Room): Promise<string> {
  const [latest] = await kept(held)
  return latest ? await got(held, `/api/conversations/${latest.id}`) : ''
}
