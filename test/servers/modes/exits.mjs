// Servers that end too early, too late, or leave something behind.
import { spawn } from 'node:child_process'
import { setImmediate as turn } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { json, NOTHING } from '../protocol.mjs'
import { tool } from './parts.mjs'
import { plain } from './plain.mjs'

const SERVER = fileURLToPath(new URL('../server.mjs', import.meta.url))

/** Tool `crash` ends the process with code 7 in the middle of the call. */
function crashCall() {
  const crash = tool('crash', 'Ends the process', async () => {
    // Lets the answers to earlier requests out first.
    await turn()
    process.stderr.write('fatal: crashed on purpose\n', () => process.exit(7))
    return NOTHING
  })
  const base = plain()
  return { ...base, tools: [...base.tools, crash] }
}

/** Never gets as far as serving. */
function crashLoop() {
  return {
    ...plain(),
    start: () => process.stderr.write('fatal: cannot start\n', () => process.exit(3)),
    receive: () => true,
  }
}

/** Only SIGKILL ends it. */
function ignoreSigterm() {
  return { ...plain(), survives: true }
}

/**
 * A launcher as npx is one: the real server is a grandchild of the client with the same stdio, and the launcher
 * passes no signal on. `--case sh` puts a shell between, as npx does.
 */
function wrapper({ case: variant }) {
  const rest = process.argv.slice(2).map((word) => (word === 'wrapper' ? 'ignore-sigterm' : word))
  const command = [process.execPath, SERVER, ...rest]
  return {
    replace() {
      const child =
        variant === 'sh'
          ? spawn('sh', ['-c', '"$@"; exit $?', 'sh', ...command], { stdio: 'inherit' })
          : spawn(command[0], command.slice(1), { stdio: 'inherit' })
      child.on('exit', (code) => process.exit(code ?? 1))
    },
  }
}

/** Starts a daemon in a session of its own that outlives it; tool `daemon` tells its pid. */
function doubleFork({ lifetime }) {
  let told
  const daemon = new Promise((resolve) => {
    told = resolve
  })
  const base = plain()
  return {
    ...base,
    tools: [
      ...base.tools,
      tool('daemon', 'The process left behind', async () => json({ pid: await daemon })),
    ],
    start() {
      const between = spawn(process.execPath, ['-e', BETWEEN, DAEMON, String(lifetime)])
      between.stdout.on('data', (data) => told(Number(data)))
    },
  }
}

// Ignores what a polite client can send; ends by itself so that no test machine fills up.
const DAEMON =
  "for (const s of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(s, () => {}); setTimeout(() => {}, Number(process.argv[1]))"
// Exits at once, so that the daemon belongs to init.
const BETWEEN = `
const { spawn } = require('node:child_process')
const child = spawn(process.execPath, ['-e', process.argv[1], process.argv[2]], { detached: true, stdio: 'ignore' })
child.unref()
console.log(child.pid)`

export const modes = {
  'crash-call': crashCall,
  'crash-loop': crashLoop,
  'ignore-sigterm': ignoreSigterm,
  wrapper,
  'double-fork': doubleFork,
}
