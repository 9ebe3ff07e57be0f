// Signing in for tests: the authorization servers, a configuration with one server behind them, and a running `busbar
// login` as something to talk to.

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { BrowseOptions } from '../servers/oauth/browse.ts'
import { type Canary, startCanary } from '../servers/oauth/canary.ts'
import { type Opener, type OpenerOptions, startOpener } from '../servers/oauth/fake-opener.ts'
import { type Hostile, type Overrides, startHostile } from '../servers/oauth/hostile.ts'
import { type RealAuthorization, type RealOptions, startRealAuthorization } from '../servers/oauth/real.ts'
import type { Answer, Sandbox } from './cli.ts'
import { AGENTS, until, userFile } from './hub.ts'

export async function authorization(options: RealOptions = {}): Promise<RealAuthorization> {
  const real = await startRealAuthorization(options)
  onTestFinished(() => real.close())
  return real
}

export async function hostile(overrides: Overrides = {}): Promise<Hostile> {
  const made = await startHostile(overrides)
  onTestFinished(() => made.close())
  return made
}

export async function canary(): Promise<Canary> {
  const made = await startCanary()
  onTestFinished(() => made.close())
  return made
}

/** A browser for children; without options somebody called ada signs in with it. */
export async function browser(options: OpenerOptions = { visit: true }): Promise<Opener & { env: Screen }> {
  const opener = await startOpener(options)
  onTestFinished(() => opener.close())
  return { ...opener, env: { PATH: opener.path, DISPLAY: ':7' } }
}

type Screen = { readonly PATH: string; readonly DISPLAY: string }

/** The person's own configuration: a server called vault, and whoever may use it. */
export function configured(sandbox: Sandbox, vault: object, more: Record<string, unknown> = {}): object {
  const config = { servers: { vault }, agents: AGENTS, ...more }
  sandbox.write(userFile(sandbox), JSON.stringify(config))
  return config
}

/** Signs in with a browser, and fails where that fails. */
export async function signedIn(
  sandbox: Sandbox,
  args: readonly string[] = [],
  visit: BrowseOptions | true = true,
): Promise<Answer> {
  const { env } = await browser({ visit })
  const done = await sandbox.run(['login', 'vault', '--json', ...args], { env })
  if (done.code !== 0) throw new Error(`busbar login ended with ${done.code}: ${done.stderr}`)
  return done.json
}

/** A `busbar login` that waits for somebody. */
export interface Waiting {
  readonly child: ChildProcess
  /** Where the person is sent. */
  readonly url: string
  /** Where the browser is to come back to. */
  readonly redirect: string
  stderr(): string
  stdout(): string
  /** The exit code, once it is over. */
  readonly code: Promise<number | null>
}

/** Without a screen, unless the environment brings one. */
export async function waiting(
  sandbox: Sandbox,
  args: readonly string[] = [],
  env: Record<string, string> = {},
): Promise<Waiting> {
  const child = sandbox.start(['login', 'vault', ...args], { env })
  let said = ''
  let out = ''
  child.stderr?.on('data', (data) => (said += data))
  child.stdout?.on('data', (data) => (out += data))
  const code = once(child, 'close').then(([ended]) => ended)
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await code
  })
  const found = await until(
    () => /https?:\/\/[^\s"]+/.exec(said)?.[0] ?? (child.exitCode === null ? undefined : said),
  )
  if (!URL.canParse(found)) throw new Error(`busbar login ended with ${child.exitCode}: ${said}`)
  const redirect = new URL(found).searchParams.get('redirect_uri') ?? ''
  return { child, url: found, redirect, stderr: () => said, stdout: () => out, code }
}

/** Whether something listens at an address of this machine. */
export function isListening(address: string): Promise<boolean> {
  const { port, hostname } = new URL(address)
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => resolve(false))
  })
}

/** Every file below a folder: its path and what it holds. */
export function filesBelow(folder: string): { path: string; bytes: Buffer }[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({ path, bytes: readFileSync(path) }))
}

/** A process with a hub of its own in the same home. */
export interface HubProcess {
  readonly child: ChildProcess
  /** So many calls of a tool of the vault at once: the texts, or the faults. */
  call(times?: number, tool?: string): Promise<(string | { code: string; message: string; hint?: string })[]>
  /** Lets its clock go before by so many seconds. */
  later(seconds: number): Promise<void>
  status(server?: string): Promise<Answer>
  /** Closes its hub, and ends at once after that. */
  leave(): Promise<void>
  kill(): Promise<void>
}

/** `isUp`: its servers are started, and it has waited for them; otherwise the first call starts them. */
export async function hubProcess(
  sandbox: Sandbox,
  config: object,
  { isUp = true }: { isUp?: boolean } = {},
): Promise<HubProcess> {
  const file = sandbox.write('hub-process.mjs', HUB_PROCESS)
  const given = JSON.stringify({ config, home: join(sandbox.home, 'busbar'), cwd: sandbox.project, isUp })
  const child = fork(file, [given], { env: sandbox.env(), cwd: sandbox.project, silent: true, execArgv: [] })
  let said = ''
  child.stderr?.on('data', (data) => (said += data))
  const gone = once(child, 'exit')
  const answers = new Map<number, (answer: Answer) => void>()
  child.on('message', ({ id, answer }: Answer) => answers.get(id)?.(answer))
  onTestFinished(async () => {
    if (child.connected) child.disconnect()
    await gone
    if (said !== '') throw new Error(`a process of the test said: ${said}`)
  })
  let last = 0
  const ask = (what: string, value?: unknown): Promise<Answer> => {
    last += 1
    const id = last
    return new Promise((resolve, reject) => {
      answers.set(id, resolve)
      gone.then(
        ([code, signal]) => reject(new Error(`the process is gone (${code ?? signal}): ${said}`)),
        reject,
      )
      child.send({ id, what, value })
    })
  }
  await ask('ready')
  return {
    child,
    call: (times = 1, tool = 'echo') => ask('call', { times, tool }),
    later: (seconds) => ask('later', seconds),
    status: (server = 'vault') => ask('status', server),
    leave: () => ask('leave'),
    kill: async () => {
      child.kill('SIGKILL')
      await gone
    },
  }
}

// --- internal ---

const HUB_PROCESS = `
const { createHub } = await import(${JSON.stringify(new URL('../../dist/index.js', import.meta.url).href)})
const { isUp, ...options } = JSON.parse(process.argv[2])
const waiting = []
let handle = (message) => waiting.push(message)
process.on('message', (message) => handle(message))
process.on('disconnect', () => void hub.close())
const hub = await createHub({ ...options, env: process.env, start: isUp })
if (isUp) await hub.as().ready()
const now = Date.now
const doing = {
  ready: () => true,
  later: (seconds) => { Date.now = () => now() + seconds * 1000 },
  status: (server) => hub.servers.get(server),
  leave: () => void hub.close().then(() => process.exit()),
  call: ({ times, tool }) => Promise.all(Array.from({ length: times }, (_, index) =>
    hub.as().call('vault/' + tool, { text: 'number ' + index }).then(
      ({ text }) => text,
      ({ code, message, hint }) => ({ code, message, hint }),
    ))),
}
handle = async ({ id, what, value }) => {
  const answer = await doing[what](value)
  if (process.connected) process.send({ id, answer: answer ?? null })
}
for (const message of waiting) void handle(message)
`
