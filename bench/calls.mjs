// What a call costs: processor time of the library against a bare client, and of the gateway against a server that
// answers itself. Rounds take turns; every system runs in a process of its own. Prints ratios; decides nothing.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = (name) => fileURLToPath(new URL(name, import.meta.url))
const echo = here('echo.mjs')
const CALLS = Number(process.env['CALLS'] ?? 2000)
const SIZES = [
  { size: 100, calls: CALLS, at: 32 },
  { size: 4 * 1024 * 1024, calls: Math.ceil(CALLS / 100), at: 1 },
]
const TOKEN = 'bench-token-0123456789'

const worker = process.argv[2]
if (worker === 'client') await runClient(process.argv[3], process.argv[4])
else await runAll(Number(worker ?? 3))

/** One client in this process, over one transport; prints what its calls cost. */
async function runClient(kind, transport) {
  const server = transport === 'http' ? await listen(process.execPath, [echo, 'http']) : undefined
  const began = performance.now()
  const client = await (kind === 'raw' ? rawClient(server) : hubClient(server))
  await client.call(1)
  const connected = performance.now() - began
  await load(client.call, 300, 8, 100)
  const costs = []
  for (const { size, calls, at } of SIZES) {
    const before = process.cpuUsage()
    await load(client.call, calls, at, size)
    const { user, system } = process.cpuUsage(before)
    costs.push((user + system) / calls)
  }
  console.log(JSON.stringify([...costs, connected]))
  await client.close()
  server?.child.kill()
  process.exit(0)
}

async function hubClient(server) {
  const { createHub } = await import(here('../dist/index.js'))
  const home = mkdtempSync(join(tmpdir(), 'busbar-bench-'))
  const entry = server
    ? { type: 'http', url: `http://127.0.0.1:${server.port}/mcp` }
    : { command: process.execPath, args: [echo] }
  const hub = await createHub({ home, config: { version: 1, servers: { echo: entry } } })
  const owner = hub.as()
  await owner.ready()
  const close = async () => {
    await hub.close()
    rmSync(home, { recursive: true, force: true })
  }
  return { call: (size) => owner.call('echo/text', { size }), close }
}

async function rawClient(server) {
  let id = 0
  const body = (size) =>
    `{"jsonrpc":"2.0","id":${++id},"method":"tools/call","params":{"name":"text","arguments":{"size":${size}}}}`
  if (server) {
    const agent = new Agent({ keepAlive: true })
    return {
      call: async (size) => JSON.parse(await post(agent, server.port, '/mcp', body(size))),
      close: async () => agent.destroy(),
    }
  }
  const child = spawn(process.execPath, [echo], { stdio: ['pipe', 'pipe', 'ignore'] })
  const waiting = new Map()
  let parts = []
  child.stdout.on('data', (chunk) => {
    let from = 0
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      const reply = JSON.parse(Buffer.concat([...parts, chunk.subarray(from, end)]))
      parts = []
      from = end + 1
      waiting.get(reply.id)?.(reply)
      waiting.delete(reply.id)
    }
    if (from < chunk.length) parts.push(chunk.subarray(from))
  })
  const call = (size) =>
    new Promise((resolve) => {
      const text = body(size)
      waiting.set(id, resolve)
      child.stdin.write(`${text}\n`)
    })
  return { call, close: async () => child.kill() }
}

/** A gateway, or a server in its place; the clients are here, and its processor time is read from /proc. */
async function runGateway(kind, backend) {
  const home = mkdtempSync(join(tmpdir(), 'busbar-bench-'))
  const behind =
    backend === 'http' && kind !== 'direct' ? await listen(process.execPath, [echo, 'http']) : undefined
  const entry = behind
    ? { type: 'http', url: `http://127.0.0.1:${behind.port}/mcp` }
    : { command: process.execPath, args: [echo] }
  const config = join(home, 'busbar.json')
  writeFileSync(
    config,
    JSON.stringify({
      servers: { echo: entry },
      // Metered, and never asked about nor out of energy.
      agents: {
        bench: {
          servers: ['*'],
          token: '${TOKEN}',
          approval: 'never',
          energy: { capacity: 1e9, recovery: 1e6 },
        },
      },
    }),
  )
  const env = { ...process.env, BUSBAR_HOME: home, TOKEN }
  const up = [here('../dist/bin.js'), 'up', '--port', '0', '--json', '--trust', '--config', config]
  const front = await listen(process.execPath, kind === 'direct' ? [echo, 'http'] : up, env)
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  let id = 0
  const call = (size) =>
    post(
      agent,
      front.port,
      kind === 'direct' ? '/mcp' : '/mcp/echo',
      `{"jsonrpc":"2.0","id":${++id},"method":"tools/call","params":{"name":"text","arguments":{"size":${size}}}}`,
    )
  await load(call, 300, 8, 100)
  const costs = []
  for (const { size, calls, at } of SIZES) {
    const before = processorTime(front.child.pid)
    await load(call, calls, at, size)
    costs.push((processorTime(front.child.pid) - before) / calls)
  }
  agent.destroy()
  front.child.kill('SIGINT')
  await new Promise((resolve) => front.child.once('exit', resolve))
  behind?.child.kill()
  rmSync(home, { recursive: true, force: true })
  return costs
}

async function runAll(rounds) {
  const rows = {
    'library, stdio': { floor: () => client('raw', 'stdio'), ours: () => client('hub', 'stdio') },
    'library, http': { floor: () => client('raw', 'http'), ours: () => client('hub', 'http') },
    'gateway, stdio server': {
      floor: () => runGateway('direct', 'http'),
      ours: () => runGateway('busbar', 'stdio'),
    },
    'gateway, http server': {
      floor: () => runGateway('direct', 'http'),
      ours: () => runGateway('busbar', 'http'),
    },
  }
  const measured = Object.fromEntries(Object.keys(rows).map((name) => [name, { floor: [], ours: [] }]))
  for (let round = 0; round < rounds; round++)
    for (const [name, { floor, ours }] of Object.entries(rows)) {
      measured[name].floor.push(await floor())
      measured[name].ours.push(await ours())
    }
  console.log('processor time of a call (µs); the floor is a bare client, or a server that answers itself\n')
  for (const [name, { floor, ours }] of Object.entries(measured))
    for (const [index, { size, at }] of SIZES.entries()) {
      const low = median(floor.map((costs) => costs[index]))
      const own = median(ours.map((costs) => costs[index]))
      const what = `${name}, ${size} B, ${at} at a time`.padEnd(48)
      console.log(
        `${what} floor ${low.toFixed(0).padStart(6)}  busbar ${own.toFixed(0).padStart(6)}  ratio ${(own / low).toFixed(2)}`,
      )
    }
  console.log('\nmilliseconds from nothing to the first answer\n')
  for (const name of ['library, stdio', 'library, http']) {
    const { floor, ours } = measured[name]
    const [low, own] = [floor, ours].map((runs) => median(runs.map((costs) => costs[SIZES.length])))
    console.log(
      `${name.padEnd(48)} floor ${low.toFixed(0).padStart(6)}  busbar ${own.toFixed(0).padStart(6)}`,
    )
  }
}

async function client(kind, transport) {
  const child = spawn(process.execPath, [here('calls.mjs'), 'client', kind, transport], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  for await (const chunk of child.stdout) text += chunk
  return JSON.parse(text)
}

/** Starts something that prints where it listens as its first line. */
async function listen(command, args, env = process.env) {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'], env })
  const line = await new Promise((resolve) => child.stdout.once('data', (chunk) => resolve(String(chunk))))
  const { port, url } = JSON.parse(line)
  return { child, port: port ?? Number(new URL(url).port) }
}

function post(agent, port, path, body) {
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'content-length': Buffer.byteLength(body),
    authorization: `Bearer ${TOKEN}`,
  }
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, method: 'POST', agent, headers }, (response) => {
      const parts = []
      response.on('data', (part) => parts.push(part))
      response.on('end', () => {
        if (response.statusCode === 200) resolve(Buffer.concat(parts))
        else reject(new Error(`status ${response.statusCode}: ${Buffer.concat(parts)}`))
      })
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

async function load(call, calls, at, size) {
  let started = 0
  const one = async () => {
    while (started++ < calls) await call(size)
  }
  await Promise.all(Array.from({ length: at }, one))
}

/** User and system time of a process in microseconds; the kernel counts in hundredths of a second. */
function processorTime(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10_000
}

function median(values) {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)]
}
