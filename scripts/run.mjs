// Behind `npm start`, `npm test` and `npm run check`: installs when needed, builds when stale, then runs. It has no
// dependencies, so each of them is one command on a fresh clone.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { delimiter, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const BIN = join(ROOT, 'node_modules', '.bin')
/** `built` is `build` only where something changed. */
const TASKS = { start, test, check, build, built: ensureBuilt, generate }

function ensureInstalled() {
  const stamp = join(ROOT, 'node_modules', '.busbar-install')
  const wanted = digest(['package.json', 'package-lock.json', '.npmrc'])
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return
  console.error('Installing packages …')
  // Not `npm ci`: it refuses locks in which optional packages of other platforms are absent.
  must('npm', ['install', '--no-audit', '--no-fund'])
  writeFileSync(stamp, digest(['package.json', 'package-lock.json', '.npmrc']))
}

function ensureBuilt() {
  const stamp = join(ROOT, 'dist', '.build')
  const inputs = [...filesBelow('src').filter((file) => !file.endsWith('.test.ts')), ...BUILD_FILES]
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === digest(inputs)) return
  console.error('Building …')
  rmSync(join(ROOT, 'dist'), { recursive: true, force: true })
  must(join(BIN, 'rolldown'), ['-c', 'rolldown.config.mjs'], 'ignore')
  must(join(BIN, 'tsc'), ['-p', 'tsconfig.build.json'])
  chmodSync(join(ROOT, 'dist', 'bin.js'), 0o755)
  writeFileSync(stamp, digest(inputs))
}

/** Programs that tests need and npm does not have. A missing one is installed, or ends the run: nothing is skipped. */
const PROGRAMS = [
  { name: 'bubblewrap', isThere: () => onPath('bwrap') },
  { name: 'dbus-daemon', isThere: () => onPath('dbus-daemon') },
  { name: 'gnome-keyring', isThere: () => onPath('gnome-keyring-daemon') },
  { name: 'postgresql', isThere: () => onPath('postgres') || filesIn('/usr/lib/postgresql').length > 0 },
]

function ensurePrograms() {
  const missing = PROGRAMS.filter(({ isThere }) => !isThere()).map(({ name }) => name)
  if (missing.length === 0) return
  console.error(`Installing ${missing.join(', ')} …`)
  const commands = [
    ['apt-get', ['update', '-qq']],
    ['apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...missing]],
  ]
  for (const [command, args] of commands) run(command, args, 'ignore')
  const still = PROGRAMS.filter(({ isThere }) => !isThere()).map(({ name }) => name)
  if (still.length === 0) return
  console.error(`The tests need ${still.join(' and ')}. Run as root: apt-get install -y ${still.join(' ')}`)
  process.exit(1)
}

function onPath(program) {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, program)))
}

function filesIn(folder) {
  return existsSync(folder) ? readdirSync(folder) : []
}

const BUILD_FILES = [
  'package.json',
  'package-lock.json',
  'rolldown.config.mjs',
  'scripts/notices.mjs',
  'tsconfig.json',
  'tsconfig.build.json',
]

/** In this very process, so that Ctrl-C ends everything in order. */
async function start(args) {
  ensureInstalled()
  ensureBuilt()
  const { run: runSample } = await import('../examples/start/start.mjs')
  process.exitCode = await runSample(args)
}

function build() {
  ensureInstalled()
  rmSync(join(ROOT, 'dist'), { recursive: true, force: true })
  ensureBuilt()
}

function generate() {
  ensureInstalled()
  must(process.execPath, [join(ROOT, 'scripts', 'layers.mjs')])
  must(join(BIN, 'biome'), ['format', '--write', 'biome.json'], 'ignore')
  ensureBuilt()
  must(process.execPath, [join(ROOT, 'scripts', 'reference.mjs')])
}

/** Style, types, unused code and unit tests: what a developer runs before every commit. */
async function check() {
  ensureInstalled()
  ensurePrograms()
  finish(await Promise.all([checks(), vitest('unit', { BUSBAR_TESTS: 'quick' })]))
}

async function test() {
  ensureInstalled()
  ensurePrograms()
  // Not beside the unit tests: some of those are about time, and unpacking keeps both cores and the disk busy.
  const installing = clientsInstalled()
  const before = await Promise.all([checks(), installing])
  const small = [...before, await vitest('unit')]
  // Half of the large ones would fail for that alone.
  if ((await installing).some(({ ok }) => !ok)) return finish(small)
  const built = await step('build', process.execPath, [fileURLToPath(import.meta.url), 'built'])
  if (!built.ok) return finish([...small, [built]])
  const published = await step('publint', join(BIN, 'publint'), ['--strict'])
  finish([...small, [published], await vitest('e2e')])
}

/** What others wrote and only the large tests need, fetched while style and types are checked. */
async function clientsInstalled() {
  const results = []
  for (const suite of ['conformance', 'clients'])
    results.push(await step(`install ${suite}`, process.execPath, [join(ROOT, 'test', suite, 'install.mjs')]))
  return results
}

/** One after the other, beside the unit tests, many of which wait; what each says comes when it ends. */
async function checks() {
  const results = []
  for (const [name, ...args] of [
    ['biome', 'check', '--error-on-warnings', '.'],
    ['tsc', '-p', 'tsconfig.json'],
    ['knip'],
  ])
    results.push(await step(name, join(BIN, name), args))
  return results
}

/** Runs one kind of tests, a few files at a time (large ones often wait), and counts from the report: a run that executed nothing cannot pass. */
async function vitest(project, env = {}) {
  const report = join(ROOT, '.tmp', 'vitest.json')
  mkdirSync(join(ROOT, '.tmp'), { recursive: true })
  rmSync(report, { force: true })
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
  const options = ['run', '--project', project, `--maxWorkers=${project === 'unit' ? 2 : 3}`, ...reporters]
  console.error(`\n— vitest ${project}`)
  const ok =
    (await ended(spawn(join(BIN, 'vitest'), options, { ...ASIDE, env: { ...process.env, ...env } }))) === 0
  if (!existsSync(report)) return [{ name: 'vitest', ok: false }]
  const counts = reported(report)
  if (counts === undefined) return [{ name: `vitest ${project}: its report is not whole`, ok: false }]
  const { numPassedTests, numFailedTests, numTotalTests } = counts
  const results = [
    ...Array.from({ length: numPassedTests }, () => ({ name: 'test', ok: true })),
    ...Array.from({ length: numFailedTests }, () => ({ name: 'test', ok: false })),
  ]
  // A file that does not load, a skipped test or an unhandled error fails the run without a failed test.
  const silent = numTotalTests !== numPassedTests + numFailedTests || (!ok && numFailedTests === 0)
  return silent ? [...results, { name: 'vitest: something was skipped or did not run', ok: false }] : results
}

function reported(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}

function finish(parts) {
  const results = parts.flat()
  const failed = results.filter((result) => !result.ok)
  for (const { name } of failed) if (name !== 'test') console.error(`failed: ${name}`)
  console.log(`${results.length - failed.length} passed, ${failed.length} failed`)
  process.exitCode = failed.length === 0 ? 0 : 1
}

const ASIDE = { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'] }

/** Shows what it says in one piece, so that two of them can run at a time. */
async function step(name, command, args) {
  const child = spawn(command, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] })
  const said = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => said.push(part))
  const code = await ended(child)
  console.error(`\n— ${name}\n${Buffer.concat(said)}`)
  return { name, ok: code === 0 }
}

function ended(child) {
  return new Promise((resolve) => {
    child.on('error', (error) => {
      console.error(error.message)
      resolve(1)
    })
    child.on('close', (code) => resolve(code ?? 1))
  })
}

function must(command, args, stdout = 'inherit') {
  const code = run(command, args, stdout)
  if (code !== 0) process.exit(code)
}

function run(command, args, stdout = 'inherit') {
  const { status, error } = spawnSync(command, args, { cwd: ROOT, stdio: ['inherit', stdout, 'inherit'] })
  if (error) console.error(`${command}: ${error.message}`)
  return status ?? 1
}

function digest(files) {
  const hash = createHash('sha256')
  for (const file of [...files].sort()) {
    const path = join(ROOT, file)
    hash.update(`${file}\0${existsSync(path) ? readFileSync(path) : ''}\0`)
  }
  return hash.digest('hex')
}

function filesBelow(folder) {
  return readdirSync(join(ROOT, folder)).flatMap((entry) => {
    const path = join(ROOT, folder, entry)
    return statSync(path).isDirectory() ? filesBelow(relative(ROOT, path)) : [relative(ROOT, path)]
  })
}

const task = TASKS[process.argv[2]]
if (task === undefined) {
  console.error(`usage: node scripts/run.mjs ${Object.keys(TASKS).join('|')}`)
  process.exit(1)
}
await task(process.argv.slice(3))
