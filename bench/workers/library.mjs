// One client in this process, over one transport; prints what its calls cost.
//   node library.mjs raw|hub stdio|http CALLS FOLDER
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { fileURLToPath } from 'node:url'
import { load } from '../load.mjs'

const here = (name) => fileURLToPath(new URL(name, import.meta.url))
const ECHO = here('../servers/echo.mjs')
const [kind, wire, calls, folder] = process.argv.slice(2)

const server = wire === 'http' ? await listening() : undefined
const began = performance.now()
const client = await (kind === 'hub' ? hubClient(server) : server ? httpClient(server) : stdioClient())
await client.call(1)
const first = performance.now() - began
// These are so short that compiling would otherwise be most of it.
await load(() => client.call(100), Number(calls) * 2, 32)
const small = await cost(Number(calls) * 5, 32, 100)
const large = (await cost(Math.ceil(Number(calls) / 100), 1, 4 * 1024 * 1024)) / 1000
console.log(JSON.stringify({ small, large, first }))
await client.close()
server?.child.kill()
process.exit(0)

/** Microseconds of processor time for a call. */
async function cost(count, clients, size) {
  const before = process.cpuUsage()
  await load(() => client.call(size), count, clients)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / count
}

async function listening() {
  const child = spawn(process.execPath, [ECHO, 'http'], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = await once(child.stdout, 'data')
  return { child, port: JSON.parse(line).port }
}

async function hubClient(behind) {
  const { createHub } = await import(here('../../dist/index.js'))
  const echo = behind
    ? { type: 'http', url: `http://127.0.0.1:${behind.port}/mcp` }
    : { command: process.execPath, args: [ECHO] }
  const hub = await createHub({ home: folder, config: { version: 1, servers: { echo } } })
  const owner = hub.as()
  await owner.ready()
  return { call: (size) => owner.call('echo/text', { size }), close: () => hub.close() }
}

function bodyOf(id, size) {
  return `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"text","arguments":{"size":${size}}}}`
}

async function httpClient({ port }) {
  const agent = new Agent({ keepAlive: true })
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const options = { host: '127.0.0.1', port, path: '/mcp', method: 'POST', agent, headers }
  let id = 0
  const call = (size) =>
    new Promise((resolve, reject) => {
      const sent = request(options, (response) => {
        const parts = []
        response.on('data', (part) => parts.push(part))
        response.on('end', () => resolve(JSON.parse(Buffer.concat(parts))))
      })
      sent.on('error', reject)
      sent.end(bodyOf(++id, size))
    })
  return { call, close: async () => agent.destroy() }
}

async function stdioClient() {
  const child = spawn(process.execPath, [ECHO], { stdio: ['pipe', 'pipe', 'ignore'] })
  const waiting = new Map()
  let id = 0
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
      waiting.set(++id, resolve)
      child.stdin.write(`${bodyOf(id, size)}\n`)
    })
  return { call, close: async () => child.kill() }
}
