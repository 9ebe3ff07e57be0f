// What `npm start` does once everything is built: the gateway on the configuration beside this file, in a home of its own
// that stays. Only commands that a person could type are used, and those that are printed work when they are pasted.
import { spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const BINARY = join(ROOT, 'dist', 'bin.js')
const CONFIG = fileURLToPath(new URL('busbar.yaml', import.meta.url))
const PORT = 4747
const AGENTS = ['writer', 'reader']

/** Runs until it is interrupted; the exit code. */
export async function run(argv) {
  const { values } = parseArgs({
    args: argv.filter((word) => word !== '--'),
    options: { port: { type: 'string' }, home: { type: 'string' } },
  })
  const sample = new Sample(values.home ?? join(ROOT, '.start'))
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => sample.stop(signal))
  try {
    return await sample.run(values.port === undefined ? undefined : Number(values.port))
  } catch (error) {
    if (sample.stopped) return 0
    console.error(`error: ${error.message}`)
    return 1
  }
}

class Sample {
  stopped = false
  #home
  #child

  constructor(home) {
    this.#home = home
  }

  async run(wanted) {
    this.#prepare()
    await this.#busbar(['trust', '--yes'])
    const tokens = Object.fromEntries(await Promise.all(AGENTS.map((agent) => this.#token(agent))))
    const port = await freePort(wanted)
    const url = `http://127.0.0.1:${port}`
    if (wanted === undefined && port !== PORT)
      console.log(`Port ${PORT} is taken by something else, so this is on ${port}.\n`)
    console.log(`The configuration: ${CONFIG}\nIts home:          ${this.#home}\n`)
    this.#tellTokens(tokens)
    await this.#samples()
    this.#nextSteps(url, tokens)
    if (this.stopped) return 0
    const code = await this.#spawn(['up', '--port', String(port)], 'inherit')
    // It was asked to end.
    return this.stopped || code === 130 || code === 143 ? 0 : code
  }

  /** From a terminal everything here is told at once; elsewhere only this process is. */
  stop(signal) {
    this.stopped = true
    if (signal !== 'SIGINT' || !process.stdin.isTTY) this.#child?.kill(signal)
  }

  // --- internal ---

  #prepare() {
    mkdirSync(this.#home, { recursive: true, mode: 0o700 })
    const files = join(this.#home, 'files')
    if (!existsSync(files))
      cpSync(fileURLToPath(new URL('files/', import.meta.url)), files, { recursive: true })
    const words = [process.execPath, BINARY, '--config', CONFIG].map(quoted).join(' ')
    const script = `#!/bin/sh\n# Busbar with the home of the sample; written by npm start.\nBUSBAR_HOME=${quoted(this.#home)} BUSBAR_COMMAND=${quoted(quoted(this.#script))} exec ${words} "$@"\n`
    writeFileSync(this.#script, script, { mode: 0o755 })
  }

  get #script() {
    return join(this.#home, 'busbar')
  }

  /** The agent with a token that is made now, or with none where it has one already. */
  async #token(agent) {
    const { tokens } = JSON.parse(await this.#busbar(['agents', 'token', agent, '--list', '--json']))
    if (tokens.some(({ state }) => state === 'active')) return [agent, undefined]
    return [agent, JSON.parse(await this.#busbar(['agents', 'token', agent, '--json'])).token]
  }

  #tellTokens(tokens) {
    for (const agent of AGENTS)
      console.log(
        tokens[agent]
          ? `Token of ${agent}, shown this once: ${tokens[agent]}`
          : `${agent} has a token already. A new one: ${quoted(this.#script)} agents token ${agent}`,
      )
  }

  /** Two calls by two agents: one goes through, for the other a person is asked. */
  async #samples() {
    const file = (name) => `path=${join(this.#home, 'files', name)}`
    console.log('\nTwo calls, by two agents:')
    await this.#show(['call', 'files/read_text_file', file('hello.txt'), '--agent', 'reader'], [0])
    const write = ['call', 'files/write_file', file('note.txt'), 'content=May I?', '--agent', 'writer']
    // Once a person has allowed it, it goes through.
    await this.#show(write, [0, 7])
  }

  #nextSteps(url, tokens) {
    const script = quoted(this.#script)
    const token = tokens.reader ?? 'TOKEN'
    const snippet = {
      mcpServers: {
        busbar: { type: 'http', url: `${url}/mcp`, headers: { Authorization: `Bearer ${token}` } },
      },
    }
    console.log(`
Connect a client, here as the reader:
  claude mcp add --transport http busbar ${url}/mcp --header "Authorization: Bearer ${token}"
or, for other clients:
  ${JSON.stringify(snippet)}

In another terminal:
  ${script} approve list                       # who waits for a person
  ${script} approve watch                      # and answer
  ${script} usage --by tool                    # what was called
  ${script} explain reader files/write_file    # why, and how to change it
  ${script} agents token writer                # a further token
`)
  }

  async #show(words, expected) {
    console.log(`\n$ ${[relativeIfShorter(this.#script), ...words].map(quoted).join(' ')}`)
    const said = await this.#busbar(words, expected)
    console.log(said.trim())
  }

  /** What a command said, both to programs and to people. */
  async #busbar(words, expected = [0]) {
    let stdout = ''
    let stderr = ''
    const code = await this.#spawn(words, 'pipe', (child) => {
      child.stdout.on('data', (data) => (stdout += data))
      child.stderr.on('data', (data) => (stderr += data))
    })
    if (!expected.includes(code))
      throw new Error(`busbar ${words.join(' ')} ended with ${code}\n${stdout}${stderr}`)
    return words.includes('--json') ? stdout : stdout + stderr
  }

  #spawn(words, stdio, listen) {
    if (this.stopped) throw new Error('stopped')
    const env = { ...process.env, BUSBAR_HOME: this.#home, BUSBAR_COMMAND: quoted(this.#script) }
    const child = spawn(process.execPath, [BINARY, '--config', CONFIG, ...words], {
      env,
      stdio: stdio === 'pipe' ? ['ignore', 'pipe', 'pipe'] : stdio,
    })
    this.#child = child
    listen?.(child)
    return new Promise((resolve, reject) => {
      child.on('error', reject)
      child.on('close', (code, signal) => resolve(signal === null ? code : 128))
    })
  }
}

/** The one that was asked for; else the usual one, or one that is free. */
async function freePort(wanted) {
  if (wanted !== undefined && wanted !== 0) return wanted
  return (await portOf(wanted ?? PORT)) ?? (await portOf(0))
}

/** The port, when it can be listened on. */
function portOf(port) {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(undefined))
    server.listen(port, '127.0.0.1', () => {
      const { port: chosen } = server.address()
      server.close(() => resolve(chosen))
    })
  })
}

function quoted(word) {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}

function relativeIfShorter(path) {
  const way = relative(process.cwd(), path)
  return way.length < path.length && !way.startsWith('..') ? way : path
}
