// Somebody at `busbar chat`: a place with models, a terminal of its own, and what the gateway has kept.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { request } from 'node:http'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import type { Answer } from '../servers/models/answers.ts'
import { type ModelEndpoint, type Script, startModels } from '../servers/models/endpoint.ts'
import { serverCommand } from '../servers/start.ts'
import { BINARY, type Sandbox } from './cli.ts'
import { place, until } from './hub.ts'

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

export interface Chat {
  /** Everything on the terminal so far. */
  text(): string
  type(keys: string): void
  /** Waits for something behind what was waited for last. */
  shows(what: string | RegExp): Promise<string>
  readonly ended: Promise<number | null>
}

/** On a terminal of its own. */
export function chat({ sandbox, env }: Room, words: readonly string[] = ['--trust']): Chat {
  const inner = `stty cols 100 rows 30; exec "${process.execPath}" "${BINARY}" chat ${words.join(' ')}`
  const child = spawn('script', ['-qefc', inner, '/dev/null'], {
    cwd: sandbox.project,
    env: sandbox.env(env),
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let text = ''
  let read = 0
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (text += data))
  const ended = once(child, 'close').then(([code]) => code as number | null)
  onTestFinished(async () => {
    child.kill('SIGTERM')
    await ended
  })
  return {
    text: () => text,
    type: (keys) => void child.stdin.write(keys),
    shows: async (what) => {
      const pattern = typeof what === 'string' ? new RegExp(escaped(what)) : what
      const found = await until(() => pattern.exec(text.slice(read))).catch(() =>
        expect.unreachable(`${pattern} was not shown in ${JSON.stringify(text.slice(read))}`),
      )
      read += found.index + found[0].length
      return found[0]
    },
    ended,
  }
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
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
