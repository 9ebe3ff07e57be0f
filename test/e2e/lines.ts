// A client that starts `busbar serve --stdio` and hides nothing: every line as it comes.

import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { expect, onTestFinished } from 'vitest'
import { BINARY, type Sandbox } from './cli.ts'
import { type Answer, TOKEN } from './hub.ts'

export const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'lines', version: '1' } },
}
export const INITIALIZED = { jsonrpc: '2.0', method: 'notifications/initialized' }

/** How a client starts it. */
export function starting(sandbox: Sandbox, given: object, more: string[] = []) {
  const file = sandbox.write('team.json', JSON.stringify(given))
  return {
    command: process.execPath,
    args: [BINARY, 'serve', '--stdio', '--config', file, '--trust', ...more],
    cwd: sandbox.project,
    env: sandbox.env({ BUSBAR_TOKEN: TOKEN }),
  }
}

export interface Lines {
  readonly child: ChildProcess
  send(...messages: object[]): void
  /** The next line, which is a message or the test fails. */
  next(): Promise<Answer>
  /** Lines until one that fits. */
  find(fits: (message: Answer) => boolean): Promise<Answer>
}

export function lines(sandbox: Sandbox, given: object, token: string | undefined = TOKEN): Lines {
  const { args } = starting(sandbox, given)
  const child = sandbox.start(args.slice(1), { env: { BUSBAR_TOKEN: token } })
  onTestFinished(async () => {
    child.stdin?.end()
    if (child.exitCode === null && child.signalCode === null) await once(child, 'close')
  })
  if (!child.stdout) throw new Error('no output')
  const read = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next = async () => {
    const { value, done } = await read.next()
    if (done) throw new Error('nothing more came')
    const message = JSON.parse(value)
    for (const one of [message].flat()) expect(one.jsonrpc).toBe('2.0')
    return message
  }
  return {
    child,
    send: (...messages) => {
      for (const message of messages) child.stdin?.write(`${JSON.stringify(message)}\n`)
    },
    next,
    find: async (fits) => {
      for (;;) {
        const message = await next()
        if (fits(message)) return message
      }
    },
  }
}
