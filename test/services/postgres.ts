// A real PostgreSQL for one test: a cluster of its own in a temporary folder, on a free port of this machine.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { userInfo } from 'node:os'
import { delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'

export interface Postgres {
  /** For clients, with the password in it. */
  readonly url: string
  readonly password: string
  /** Runs statements as the owner of the database. */
  sql(text: string): void
}

/** Starts one and stops it when the test is over. */
export async function startPostgres(): Promise<Postgres> {
  const programs = findPrograms()
  const user = runningUser()
  const folder = mkdtempSync('/tmp/busbar-postgres-')
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  chmodSync(folder, 0o700)
  own(folder, user)
  const data = join(folder, 'data')
  const password = 'only-for-this-test'
  const run = (program: string, args: readonly string[], input = '') => {
    const { status, stderr, error } = spawnSync(join(programs, program), args, {
      ...user,
      cwd: folder,
      env: { ...ENVIRONMENT, PGPASSWORD: password },
      input,
      encoding: 'utf8',
    })
    if (status !== 0) throw new Error(`${program} failed: ${error?.message ?? stderr}`)
  }
  const secret = join(folder, 'password')
  writeFileSync(secret, `${password}\n`)
  own(secret, user)
  // Durability is of no use here.
  run('initdb', [
    ...['-D', data, '-U', 'busbar', '-A', 'scram-sha-256', `--pwfile=${secret}`],
    ...['-E', 'UTF8', '--no-sync'],
  ])
  const port = await freePort()
  const server = spawn(
    join(programs, 'postgres'),
    ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', folder, '-c', 'fsync=off'],
    { ...user, cwd: folder, env: ENVIRONMENT, stdio: ['ignore', 'ignore', 'pipe'] },
  )
  onTestFinished(() => stop(server))
  await readyToAnswer(server)
  return {
    url: `postgresql://busbar:${password}@127.0.0.1:${port}/postgres`,
    password,
    sql: (text) =>
      run(
        'psql',
        ['-h', folder, '-p', String(port), '-U', 'busbar', '-q', '-v', 'ON_ERROR_STOP=1', 'postgres'],
        text,
      ),
  }
}

// --- internal ---

const ENVIRONMENT = { PATH: process.env['PATH'] ?? '', LC_ALL: 'C.UTF-8' }

function findPrograms(): string {
  const root = '/usr/lib/postgresql'
  const installed = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : []
  const folders = [
    ...installed.map((version) => join(root, version, 'bin')),
    ...(process.env['PATH'] ?? '').split(delimiter),
  ]
  const found = folders.find((folder) =>
    ['initdb', 'postgres', 'psql'].every((program) => existsSync(join(folder, program))),
  )
  if (found !== undefined) return found
  throw new Error('PostgreSQL is not installed; run: apt-get install -y postgresql')
}

interface User {
  readonly uid?: number
  readonly gid?: number
}

function own(path: string, { uid, gid }: User): void {
  if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid)
}

/** PostgreSQL refuses to run as root, so then another user runs it. */
function runningUser(): User {
  if (userInfo().uid !== 0) return {}
  for (const name of ['postgres', 'nobody']) {
    const { stdout } = spawnSync('id', ['-u', name], { encoding: 'utf8' })
    const { stdout: group } = spawnSync('id', ['-g', name], { encoding: 'utf8' })
    if (/^\d+\n$/.test(stdout)) return { uid: Number(stdout), gid: Number(group) }
  }
  throw new Error('PostgreSQL does not run as root, and there is no user postgres or nobody')
}

/** A port nobody listens on. Somebody else could take it before PostgreSQL does; then its start fails and says so. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

/** Resolves when it says that it takes connections. */
function readyToAnswer(server: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    const said: string[] = []
    if (!server.stderr) return reject(new Error('PostgreSQL has no stderr'))
    server.once('error', reject)
    server.once('exit', (code) =>
      reject(new Error(`PostgreSQL ended with code ${code}:\n${said.join('\n')}`)),
    )
    createInterface({ input: server.stderr }).on('line', (line) => {
      said.push(line)
      if (line.includes('ready to accept connections')) resolve()
    })
  })
}

async function stop(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return
  const ended = once(server, 'exit')
  // Fast shutdown: clients are disconnected.
  server.kill('SIGINT')
  await ended
}
