// A bare stdio client that sees every line: for tests about bytes rather than about meaning.
import { spawn } from 'node:child_process'
import { onTestFinished } from 'vitest'
import { type ServerOptions, serverCommand } from './start.ts'

// biome-ignore lint/suspicious/noExplicitAny: lines of a test server, checked by the test itself
type Line = any

export interface RawServer {
  pid: number
  send(message: object): void
  /** Sends a tools/call and gives its id. */
  call(name: string, given?: object): number
  /** The first line, also among those already there, that is JSON and fits. */
  line(fits: (line: Line) => boolean): Promise<Line>
  answer(id: number | string | null): Promise<Line>
  /** All of stdout so far. */
  text(): string
  /** All of stderr so far, at most a megabyte. */
  errors(): string
  endInput(): void
  /** Resolves when stdout ended. */
  silent: Promise<void>
  exit: Promise<{ code: number | null; signal: string | null }>
}

/** Starts a mode on stdio in a group of its own, which is killed after the test, and opens it in the legacy way. */
export function startRaw(mode: string, options: ServerOptions & { open?: boolean } = {}): RawServer {
  const { open = true, ...rest } = options
  const { command, args } = serverCommand(mode, rest)
  const child = spawn(command, args, { detached: true, stdio: 'pipe' })
  const pid = child.pid ?? 0
  const chunks: Buffer[] = []
  let errors = ''
  let pending = ''
  const lines: Line[] = []
  const waiting = new Set<() => void>()
  const decoder = new TextDecoder()
  child.stdout.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    const parts = (pending + decoder.decode(chunk, { stream: true })).split('\n')
    pending = parts.pop() ?? ''
    for (const part of parts) if (part.startsWith('{')) keep(part)
    for (const check of waiting) check()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    if (errors.length < 1_000_000) errors += chunk
  })
  // The server may be gone before it reads.
  child.stdin.on('error', () => {})
  onTestFinished(() => {
    try {
      process.kill(-pid, 'SIGKILL')
    } catch {
      // Nothing is left of the group.
    }
  })

  function keep(text: string) {
    try {
      lines.push(JSON.parse(text))
    } catch {
      // Noise of the server.
    }
  }
  function line(fits: (line: Line) => boolean): Promise<Line> {
    return new Promise((resolve) => {
      const check = () => {
        const found = lines.find(fits)
        if (found === undefined) return
        waiting.delete(check)
        resolve(found)
      }
      waiting.add(check)
      check()
    })
  }

  let next = 1
  const send = (message: object) =>
    void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  if (open) {
    const params = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'raw', version: '1' },
    }
    send({ id: 0, method: 'initialize', params })
    send({ method: 'notifications/initialized' })
  }
  return {
    pid,
    send,
    call(name, given = {}) {
      const id = next++
      send({ id, method: 'tools/call', params: { name, arguments: given } })
      return id
    },
    line,
    answer: (id) => line((one) => one.id === id && one.method === undefined),
    text: () => Buffer.concat(chunks).toString(),
    errors: () => errors,
    endInput: () => void child.stdin.end(),
    silent: new Promise((resolve) => child.stdout.on('end', () => resolve())),
    exit: new Promise((resolve) => child.on('exit', (code, signal) => resolve({ code, signal }))),
  }
}
