// Starts what the conformance tests talk to, each a real process of its own on the Node that runs the tests.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'

export interface Process {
  url: string
  close(): Promise<void>
}

const HERE: string = import.meta.dirname
const BINARY: string = join(HERE, '../../dist/bin.js')
const FIXTURE: string = join(HERE, 'fixture-server.mjs')

/** The server entry of a gateway configuration. */
export type ServerEntry =
  | { type: 'http'; url: string }
  | { command: string; args: string[]; era?: 'auto' | 'modern' | 'legacy' }

/** How the gateway starts the fixture itself. */
export const stdioFixture: ServerEntry = {
  command: process.execPath,
  args: [FIXTURE, '--transport', 'stdio'],
}

/** Brings the suite itself; the first time this downloads it. */
export async function installSuite(): Promise<void> {
  await promisify(execFile)(process.execPath, [join(HERE, 'install.mjs')])
}

export async function startFixture(): Promise<Process> {
  const child = spawn(process.execPath, [FIXTURE, '--transport', 'http', '--port', '0'])
  const { url } = await firstLine(child)
  return { url, close: () => stop(child) }
}

/** The built gateway in a home of its own, in front of one server; `url` is that server's endpoint. */
export async function startGateway(options: {
  server: ServerEntry
  token: string
  env: Record<string, string>
}): Promise<Process> {
  const root = await mkdtemp(join(tmpdir(), 'busbar-conformance-gateway-'))
  await mkdir(join(root, 'home'))
  const config = join(root, 'busbar.json')
  await writeFile(
    config,
    JSON.stringify({
      version: 1,
      servers: { fixture: options.server },
      agents: { conformance: { servers: ['*'], approval: 'never', token: '${CONFORMANCE_TOKEN}' } },
    }),
  )
  const child = spawn(
    process.execPath,
    [BINARY, 'up', '--port', '0', '--config', config, '--trust', '--json'],
    {
      cwd: root,
      env: {
        PATH: process.env['PATH'],
        HOME: join(root, 'home'),
        CONFORMANCE_TOKEN: options.token,
        ...options.env,
      },
    },
  )
  const close = async (): Promise<void> => {
    await stop(child)
    await rm(root, { recursive: true, force: true })
  }
  try {
    const { url } = await firstLine(child)
    return { url: `${url}/mcp/fixture`, close }
  } catch (error) {
    await close()
    throw error
  }
}

// --- internal ---

/** Both programs say where they listen in one line of JSON; one that ends before has failed. */
async function firstLine(child: ChildProcess): Promise<{ url: string }> {
  let stderr = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr = (stderr + chunk.toString()).slice(-4_000)
  })
  const line = await new Promise<string>((resolve, reject) => {
    if (child.stdout) createInterface({ input: child.stdout }).once('line', resolve)
    child.once('error', reject)
    child.once('close', (code) => reject(new Error(`ended with ${code} before it was ready\n${stderr}`)))
    setTimeout(() => reject(new Error(`not ready after 20 s\n${stderr}`)), 20_000).unref()
  })
  const ready: { url?: unknown } = JSON.parse(line)
  if (typeof ready.url !== 'string') throw new Error(`no url in ${line}`)
  return { url: ready.url }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const closed = new Promise((resolve) => child.once('close', resolve))
  child.kill('SIGTERM')
  const force = setTimeout(() => child.kill('SIGKILL'), 5_000)
  await closed
  clearTimeout(force)
}
