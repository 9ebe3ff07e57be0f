// Hubs of the built library for tests: each has a home of its own, and a test that leaves a process behind fails.

import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync } from 'node:fs'
import { request as ask, createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, vi } from 'vitest'
import type * as Library from '../../src/index.ts'
import { type ServerOptions, serverCommand, startServer } from '../servers/start.ts'
import { processesOf } from '../services/processes.ts'
import { type Answer, Sandbox } from './cli.ts'

// What is published is what is tested; only its types come from the sources.
export const { createHub, JsonText }: typeof Library = await import(
  new URL('../../dist/index.js', import.meta.url).href
)

export type Hub = Library.Hub
type HubConfig = Library.HubConfig
export type HubEvent = Library.HubEvent
export type HubServer = Library.HubServer
export type Fault = Library.Fault
export type { Answer }

export type Wire = 'stdio' | 'http' | 'http event streams' | 'sse' | 'websocket'
export type Era = 'legacy' | 'modern'

/** Every pair that exists: the old transport has no modern era. */
export const WIRES: [Wire, Era][] = [
  ['stdio', 'legacy'],
  ['stdio', 'modern'],
  ['http', 'legacy'],
  ['http', 'modern'],
  ['http event streams', 'legacy'],
  ['http event streams', 'modern'],
  ['sse', 'legacy'],
  ['websocket', 'legacy'],
  ['websocket', 'modern'],
]

export interface Place {
  readonly sandbox: Sandbox
  /** Opens a hub in this place's home; it is closed with the test. */
  open(config: HubConfig | string, options?: Library.HubOptions): Promise<Hub>
}

/** A home for one or several hubs. When the test is over, no process may have to do with it. */
export function place(): Place {
  const sandbox = new Sandbox()
  onTestFinished(async () => {
    await vi
      .waitUntil(() => processesOf(sandbox.root).length === 0, { timeout: 4_000 })
      .catch(() => undefined)
    const left = processesOf(sandbox.root)
    for (const line of left) kill(Number.parseInt(line, 10), 'SIGKILL')
    expect(left).toEqual([])
  })
  return {
    sandbox,
    async open(config, options = {}) {
      const hub = await createHub({
        config,
        home: join(sandbox.home, 'busbar'),
        cwd: sandbox.project,
        env: sandbox.env(),
        ...options,
      })
      onTestFinished(() => within(hub.close(), 'hub.close()'))
      return hub
    },
  }
}

/** A hub with these servers, all of which are up or have failed. */
export async function hubWith(
  servers: Readonly<Record<string, HubServer>>,
  options: Library.HubOptions = {},
): Promise<Hub> {
  const hub = await place().open({ servers }, options)
  await hub.as().ready()
  return hub
}

/** An entry for a test server over the given transport. A listening one is started first. */
export async function entry(
  wire: Wire,
  mode: string,
  options: ServerOptions & { env?: Record<string, string> } = {},
): Promise<Answer> {
  const { env, ...rest } = options
  if (wire === 'stdio') return { ...serverCommand(mode, rest), ...(env && { env }) }
  const streams = wire === 'http event streams'
  const transport = streams ? 'http' : wire
  const { url } = await startServer(mode, {
    ...rest,
    ...(env && { env }),
    transport,
    ...(streams && { sse: true }),
  })
  return transport === 'http' ? { url } : { url, type: transport }
}

/** The fault that a promise is rejected with. */
export async function faultOf(work: Promise<unknown>): Promise<Fault> {
  try {
    await work
  } catch (error) {
    expect(error).toMatchObject({ name: 'Fault', code: expect.any(String) })
    return error as Fault
  }
  throw new Error('nothing went wrong')
}

export async function codeOf(work: Promise<unknown>): Promise<string> {
  return (await faultOf(work)).code
}

/** What must come to an end, and does so long before this. */
async function within<T>(work: Promise<T>, what: string, timeout = 12_000): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} does not come`)), timeout)
  })
  return await Promise.race([work, over]).finally(() => clearTimeout(timer))
}

/** Waits until something holds. */
export async function until<T>(look: () => T | Promise<T>, timeout = 20_000): Promise<NonNullable<T>> {
  return (await vi.waitUntil(look, { timeout, interval: 20 })) as NonNullable<T>
}

/** A call's text as data. */
export async function asked(hub: Hub, address: string, args: object = {}): Promise<Answer> {
  return JSON.parse((await hub.as().call(address, args)).text)
}

/** The process that serves, which need not be the one that was started. */
export async function pidOf(hub: Hub, server: string): Promise<number> {
  return (await asked(hub, `${server}/pid`)).pid
}

export function isAlive(pid: number): boolean {
  try {
    // A zombie is dead; its parent has not looked yet.
    return !/^\d+ \(.*\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

export function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}

interface Seen {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  /** Set when the asking side went away before the answer was whole. */
  left?: boolean
}

/** Stands before a listening server and notes what passes; `refuse` may answer in its stead. */
export async function between(
  target: string,
  refuse: (seen: Seen) => { status: number; headers?: Record<string, string> } | undefined = () => undefined,
): Promise<{ url: string; requests: Seen[] }> {
  const requests: Seen[] = []
  const { hostname, port, pathname, protocol } = new URL(target)
  const proxy = createServer((request, response) => {
    const { method = '', headers, url: path = '' } = request
    const seen: Seen = { method, path, headers }
    requests.push(seen)
    const refusal = refuse(seen)
    if (refusal) {
      response.writeHead(refusal.status, refusal.headers).end()
      return
    }
    const onward = ask({ hostname, port, path, method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers)
      response.flushHeaders()
      answer.pipe(response)
      answer.on('error', () => response.destroy())
    })
    onward.on('error', () => response.destroy())
    response.on('close', () => {
      if (!response.writableFinished) seen.left = true
      onward.destroy()
    })
    request.pipe(onward)
  })
  proxy.on('upgrade', ({ headers, url: path = '' }, socket, head) => {
    const seen: Seen = { method: 'upgrade', path, headers }
    requests.push(seen)
    const refusal = refuse(seen)
    if (refusal) {
      const lines = Object.entries(refusal.headers ?? {}).map(([name, value]) => `${name}: ${value}\r\n`)
      socket.end(`HTTP/1.1 ${refusal.status} Refused\r\ncontent-length: 0\r\n${lines.join('')}\r\n`)
      return
    }
    const onward = ask({ hostname, port, path, headers })
    onward.on('upgrade', (answer, far) => {
      const lines = Object.entries(answer.headers).map(([name, value]) => `${name}: ${value}`)
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('\r\n')}\r\n\r\n`)
      far.write(head)
      far.pipe(socket).pipe(far)
      for (const end of [far, socket]) end.on('error', () => undefined)
    })
    onward.end()
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  onTestFinished(() => {
    proxy.closeAllConnections()
    proxy.close()
  })
  const { port: own } = proxy.address() as AddressInfo
  return { url: `${protocol}//127.0.0.1:${own}${pathname}`, requests }
}

/**
 * A small server of the test's own, written into the project: `tools` is the text of an object of functions. What stands
 * `before` may set `capabilities` and further `methods` on globalThis, and `seen` to hear every message.
 */
export function ownServer(sandbox: Sandbox, tools: string, before = ''): { command: string; args: string[] } {
  mkdirSync(sandbox.project, { recursive: true })
  const file = sandbox.write(`own-${Math.random().toString(36).slice(2)}.mjs`, `${before}\n${OWN(tools)}`)
  return { command: process.execPath, args: [file] }
}

export interface Gateway {
  readonly url: string
  readonly child: ChildProcess
  /** What it said to the person so far. */
  stderr(): string
  /** One request with an agent's token. */
  post(path: string, body: unknown, headers?: Record<string, string>, signal?: AbortSignal): Promise<Response>
  /** A legacy request; its answer, whole. */
  ask(server: string, method: string, params?: object): Promise<Answer>
  /** Sends a signal and waits for the end; the exit code. */
  end(signal: NodeJS.Signals): Promise<number | null>
}

export const TOKEN = 'agent-token-7f3a'

/** An agent with that token that may use every server. */
export const AGENTS = { ada: { servers: ['*'], token: TOKEN, approval: 'never' } }

/** Runs `busbar up` on a configuration file, or with `user` on the person's own; it ends with the test. */
export async function up(
  sandbox: Sandbox,
  config: object,
  {
    user = false,
    env = {},
    port = '0',
  }: { user?: boolean; env?: Record<string, string>; port?: string } = {},
): Promise<Gateway> {
  const file = sandbox.write(user ? userFile(sandbox) : 'team.json', JSON.stringify(config))
  const from = user ? [] : ['--config', file, '--trust']
  const child = sandbox.start(['up', '--port', port, '--json', ...from], { env })
  const ended = once(child, 'close')
  onTestFinished(async () => {
    child.kill('SIGTERM')
    await within(ended, 'the end of busbar up').finally(() => child.kill('SIGKILL'))
  })
  return await gatewayOf(child, ended)
}

/** The file of the person's own, which needs no trust. JSON is YAML. */
export function userFile(sandbox: Sandbox): string {
  return join(sandbox.home, '.config/busbar/config.yaml')
}

/** A running `busbar up` as something to talk to. */
export async function gatewayOf(child: ChildProcess, ended: Promise<unknown[]>): Promise<Gateway> {
  let said = ''
  let out = ''
  child.stderr?.on('data', (data) => (said += data))
  child.stdout?.on('data', (data) => (out += data))
  await until(() => out.includes('\n') || child.exitCode !== null)
  if (child.exitCode !== null) throw new Error(`busbar up ended with ${child.exitCode}: ${said}`)
  const { url } = JSON.parse(out)
  const post: Gateway['post'] = (path, body, headers = {}, signal) =>
    fetch(url + path, {
      method: 'POST',
      signal: signal ?? null,
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        authorization: `Bearer ${TOKEN}`,
        ...headers,
      },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
  return {
    url,
    child,
    stderr: () => said,
    post,
    ask: async (server, method, params = {}) =>
      await (await post(`/mcp/${server}`, { jsonrpc: '2.0', id: 1, method, params })).json(),
    async end(signal) {
      child.kill(signal)
      await ended
      return child.exitCode
    },
  }
}

/** The text of a tool's answer through the gateway, as data. */
export async function askTool(
  gateway: Gateway,
  server: string,
  name: string,
  given: object = {},
): Promise<Answer> {
  const { result } = await gateway.ask(server, 'tools/call', { name, arguments: given })
  return JSON.parse(result.content[0].text)
}

/** The environment that makes a server note when another of the same log was alive as it started. */
export function watchedStarts(sandbox: Sandbox): {
  env: Record<string, string>
  log: string
  overlaps(): number
} {
  const log = sandbox.path('starts')
  const env = { SPAWN_LOG: log, NODE_OPTIONS: `--require ${sandbox.write('overlap.cjs', OVERLAP)}` }
  const overlaps = () => (sandbox.exists(log) ? (sandbox.read(log).match(/OVERLAP/g) ?? []).length : 0)
  return { env, log, overlaps }
}

const OVERLAP = `
const { appendFileSync, existsSync, readFileSync } = require('node:fs')
const log = process.env.SPAWN_LOG
const before = existsSync(log) ? readFileSync(log, 'utf8').match(/(?<=START )\\d+/g) ?? [] : []
for (const pid of before) {
  let stat = ''
  try { stat = readFileSync('/proc/' + pid + '/stat', 'utf8') } catch {}
  if (stat !== '' && !/\\) [ZX] /.test(stat)) appendFileSync(log, 'OVERLAP ' + pid + '\\n')
}
`

const OWN = (tools: string) => `
import { createInterface } from 'node:readline'
const tools = ${tools}
const definitions = Object.keys(tools).map((name) => ({ name, inputSchema: { type: 'object' } }))
const say = globalThis.say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n')
const methods = {
  initialize: () => ({ protocolVersion: '2025-11-25', capabilities: { tools: { listChanged: true }, ...globalThis.capabilities }, serverInfo: { name: 'own', version: '1' } }),
  'tools/list': () => ({ tools: definitions }),
  ping: () => ({}),
  'tools/call': async ({ name, arguments: given }) => {
    try {
      return { content: [{ type: 'text', text: JSON.stringify((await tools[name](given, say)) ?? null) }] }
    } catch (error) {
      return { isError: true, content: [{ type: 'text', text: String(error.code ?? error.message) }] }
    }
  },
  ...globalThis.methods,
}
createInterface({ input: process.stdin }).on('line', async (line) => {
  const { id, method, params } = JSON.parse(line)
  globalThis.seen?.(method, params, line)
  if (id === undefined || method === undefined) return
  if (methods[method]) say({ id, result: await methods[method](params ?? {}) })
  else say({ id, error: { code: -32601, message: 'Method not found' } })
}).on('close', () => process.exit(0))
`
