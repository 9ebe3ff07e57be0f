// `busbar up` as a person meets it: what it says, the table on a terminal, edits while it runs, and how it stops.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { serverCommand } from '../servers/start.ts'
import { BINARY, type Sandbox } from './cli.ts'
import {
  AGENTS,
  type Answer,
  askTool,
  type Gateway,
  isAlive,
  ownServer,
  place,
  TOKEN,
  until,
  up,
  userFile,
} from './hub.ts'
import { WireClient } from './wire-client.ts'

const plain = serverCommand('plain')
const CONFIG = { servers: { plain }, agents: AGENTS }

interface Running {
  /** All it wrote to the terminal, or to both pipes. */
  text(): string
  stop(signal: NodeJS.Signals): void
  readonly ended: Promise<number | null>
}

const WORDS = ['up', '--port', '0', '--config', 'team.json', '--trust']

/** `busbar up` with its words to people; on a terminal of its own, where it gets one. */
function shown(
  sandbox: Sandbox,
  config: object,
  { terminal = false, words = [] as string[], columns = 100, env = {} as Record<string, string> } = {},
): Running {
  sandbox.write('team.json', JSON.stringify(config))
  const all = [...WORDS, ...words]
  // What util-linux has for this; the inner shell gives the terminal a size, and takes the signals' place with exec.
  const inner = `stty cols ${columns} rows 30; exec "${process.execPath}" "${BINARY}" ${all.join(' ')}`
  const [program, args] = terminal
    ? ['script', ['-qefc', inner, '/dev/null']]
    : [process.execPath, [BINARY, ...all]]
  const child = spawn(program, args, {
    cwd: sandbox.project,
    env: sandbox.env({ TERM: 'xterm', SHELL: '/bin/sh', ...env }),
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (text += data))
  const ended = once(child, 'close').then(([code]) => code as number | null)
  const stop = (signal: NodeJS.Signals) => {
    // On a terminal it is a key.
    if (terminal && signal === 'SIGINT') child.stdin.write('\u0003')
    else child.kill(signal)
  }
  onTestFinished(async () => {
    stop('SIGINT')
    stop('SIGTERM')
    await ended
  })
  return { text: () => text, stop, ended }
}

test('[C10] the address is told while servers still start, hang and crash; the tools of the last run are there', async () => {
  const { sandbox } = place()
  const servers = {
    plain,
    hanging: serverCommand('hanging'),
    slow: serverCommand('slow', { delay: 600_000 }),
  }
  const first = await up(sandbox, { servers: { plain, slow: plain }, agents: AGENTS })
  for (const server of ['plain', 'slow']) await gatewayTools(first, server)
  await first.end('SIGTERM')
  const second = await up(sandbox, {
    servers: { ...servers, crash: serverCommand('crash-loop') },
    agents: AGENTS,
  })
  const answer = await fetch(`${second.url}/api/servers`, { headers: ownerOf(sandbox) })
  const states = new Map<string, string>(
    ((await answer.json()) as Answer).servers.map(({ name, state }: Answer) => [name, state]),
  )
  expect([states.get('hanging'), states.get('slow')]).toEqual(['starting', 'starting'])
  expect(await gatewayTools(second, 'plain')).toHaveLength(11)
})

async function gatewayTools(gateway: Gateway, server: string): Promise<unknown[]> {
  return (await gateway.ask(server, 'tools/list')).result.tools
}

function ownerOf(sandbox: Sandbox): Record<string, string> {
  const token = sandbox.read(`${sandbox.home}/.local/state/busbar/admin-token`).trim()
  return { authorization: `Bearer ${token}` }
}

test('it says where it is, who can come and how the others get a token; without a terminal there is no table', async () => {
  const { sandbox } = place()
  const running = shown(sandbox, {
    ...CONFIG,
    agents: { ...AGENTS, 'b c': { servers: [] }, bob: { servers: ['plain'] } },
  })
  await until(() => running.text().includes('plain: connected, 11 tools'))
  const text = running.text()
  const [, url] = /listens on (http:\/\/127\.0\.0\.1:\d+)\n/.exec(text) ?? []
  expect(text).toContain(`${url}/mcp `)
  expect(text).toMatch(/\/mcp\/SERVER +one of them: plain\n/)
  expect(text).toContain('Agents sign in with their tokens: ada.')
  expect(text).toContain('bob has no token yet: busbar agents token bob\n')
  expect(text).not.toContain('\u001b')
  expect(text).not.toContain('STATE')
  running.stop('SIGINT')
  expect(await running.ended).toBe(130)
})

test('[D11] a question to a person is told, also after a restart', async () => {
  const { sandbox } = place()
  const config = {
    servers: { plain },
    agents: { cto: { servers: ['plain'], token: TOKEN, approval: 'always' } },
    approvals: { wait: 0 },
  }
  const running = shown(sandbox, config)
  const line = 'cto asks for plain/echo: busbar approve list'
  const url = await until(() => /listens on (\S+)/.exec(running.text())?.[1])
  await until(() => running.text().includes('connected'))
  await fetch(`${url}/mcp/plain`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'echo', arguments: { text: 'x' } },
    }),
  })
  await until(() => running.text().includes(line))
  running.stop('SIGTERM')
  expect(await running.ended).toBe(143)
  const again = shown(sandbox, config)
  await until(() => again.text().includes(line))
})

test('[C10] on a terminal a table shows every server, and nothing a server says acts on it', async () => {
  const { sandbox } = place()
  const evil = '\u001b[2J\u001b]0;title\u0007\u202e evil\nwarning: all is well\u001b[31m'
  const servers = {
    plain,
    broken: {
      command: process.execPath,
      args: ['-e', `console.error(${JSON.stringify(evil)}); process.exit(3)`],
    },
  }
  const running = shown(sandbox, { servers, agents: AGENTS }, { terminal: true, columns: 100 })
  await until(() => /plain +11 +0 +0 .*connected/.test(bare(running.text())))
  await until(() => /broken +0 +0 +0 .*failed: ended with code 3/.test(bare(running.text())))
  const url = await until(() => /listens on (http\S+)/.exec(bare(running.text()))?.[1])
  await fetch(`${url}/mcp/plain`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'echo', arguments: { text: 'x' } },
    }),
  })
  await until(() => /plain +11 +1 +0 .*connected/.test(bare(running.text())))
  running.stop('SIGINT')
  expect(await running.ended).toBe(130)
  const text = running.text()
  // Colours and the way back to the table's first line, and nothing else; the cursor is never hidden.
  const sequences = [...text.matchAll(SEQUENCE)].map(([sequence]) => sequence)
  expect(sequences.filter((sequence) => !/\[(?:A|K|\d+m)$/.test(sequence))).toEqual([])
  for (const act of ['\u0007', '\u202e']) expect(text).not.toContain(act)
  // Within the table no line is longer than the terminal.
  for (const line of bare(text).split(/\r?\n/))
    if (/^(?:SERVER|plain|broken) {2,}/.test(line)) expect(line.length).toBeLessThan(100)
  // Taken away at the end.
  expect(bare(text.slice(text.lastIndexOf('\u001b[K')))).not.toContain('SERVER')
})

// biome-ignore lint/suspicious/noControlCharactersInRegex: that is how they begin
const SEQUENCE = /\u001b(?:\[[0-9;?]*[A-Za-z]?|[^[]|$)/g
const bare = (text: string): string => text.replace(SEQUENCE, '')

for (const [what, words, env] of [
  ['--quiet', ['--quiet'], {}],
  ['--json', ['--json'], {}],
  ['TERM=dumb', [], { TERM: 'dumb' }],
] as const)
  test(`no table with ${what}`, async () => {
    const { sandbox } = place()
    const running = shown(sandbox, CONFIG, { terminal: true, words: [...words], env })
    await until(() => running.text().includes('127.0.0.1'))
    const folder = `${sandbox.home}/.local/state/busbar`
    await until(() => sandbox.exists(`${folder}/servers`))
    if (what !== '--json') await until(() => running.text().includes('plain: connected'))
    running.stop('SIGINT')
    expect(await running.ended).toBe(130)
    expect(running.text()).not.toContain('STATE')
    expect(running.text()).not.toContain('\u001b[A')
  })

test('[D14] limits and hosts are taken over while it runs; for an address it wants a restart', async () => {
  const { sandbox } = place()
  const written = (gateway: object) => JSON.stringify({ ...CONFIG, gateway })
  sandbox.write(userFile(sandbox), written({ port: 0 }))
  const child = sandbox.start(['up', '--host', '127.0.0.1'])
  onTestFinished(() => void child.kill('SIGKILL'))
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (data) => (text += data))
  const url = await until(() => /listens on (\S+)/.exec(text)?.[1])
  const ask = async (host: string): Promise<number | undefined> => {
    const asked = request(`${url}/healthz`, { headers: { host }, agent: false }).end()
    const [answer] = (await once(asked, 'response')) as [IncomingMessage]
    answer.resume()
    return answer.statusCode
  }
  expect(await ask('gate.example')).toBe(403)
  sandbox.write(
    userFile(sandbox),
    written({
      allowedHosts: ['gate.example'],
      port: 1,
      host: '127.0.0.9',
      limits: { concurrent: 5, receive: '9s' },
    }),
  )
  await until(() => text.includes('restart to apply'))
  expect(text).toContain('now in force gateway.allowedHosts, gateway.limits.concurrent')
  expect(text).toContain('restart to apply: gateway.port, gateway.limits.receive\n')
  expect(await ask('gate.example')).toBe(200)
  // A mistake is told, and that it is one no more.
  const good = sandbox.read(userFile(sandbox))
  sandbox.write(userFile(sandbox), written({ limits: { x: 1 } }))
  await until(() => text.includes('gateway.limits.x is not a known key'))
  sandbox.write(userFile(sandbox), good)
  await until(() => text.includes('the files are in order again\n'))
  const ended = once(child, 'close')
  child.kill('SIGTERM')
  await ended
})

test('[D14] an edit that nobody has trusted yet does not ask for a restart as well', async () => {
  const { sandbox } = place()
  const written = (more: object) => JSON.stringify({ ...CONFIG, gateway: { port: 0 }, ...more })
  sandbox.write('busbar.yaml', written({}))
  await sandbox.run(['trust', '--yes'])
  const child = sandbox.start(['up', '--host', '127.0.0.1'])
  const ended = once(child, 'close')
  onTestFinished(() => void child.kill('SIGKILL'))
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (data) => (text += data))
  await until(() => text.includes('listens on'))
  sandbox.write('busbar.yaml', written({ defaults: { approval: 'never' } }))
  await until(() => text.includes('not trusted, so not in force'))
  await sandbox.run(['trust', '--yes'])
  expect(text).not.toContain('restart to apply')
  sandbox.write('busbar.yaml', written({ gateway: { port: 1 } }))
  await sandbox.run(['trust', '--yes'])
  await until(() => text.includes('restart to apply: gateway.port'))
  child.kill('SIGTERM')
  await ended
})

test('[B10] who listens is not told of lists that go with the gateway', async () => {
  const { sandbox } = place()
  const gateway = await up(sandbox, CONFIG)
  const client = await WireClient.open(gateway)
  await client.ask('tools/list')
  const stream = await client.listen()
  const call = await client.begin('mcp__plain__progress', { steps: 20, delay: 50 }, 7, { progressToken: 1 })
  await call.find('notifications/progress')
  const before = stream.messages.length
  await gateway.end('SIGTERM')
  await stream.end()
  expect((await call.end()).messages.at(-1)).toHaveProperty('result')
  expect(stream.messages.slice(before)).toEqual([])
})

test('[B10] the first Ctrl-C says what it waits for and takes nothing new, the second ends it; nothing is left', async () => {
  const { sandbox } = place()
  const own = ownServer(sandbox, `{ hang: () => new Promise(() => {}), pid: () => process.pid }`)
  const gateway = await up(sandbox, { servers: { own }, agents: AGENTS })
  const pid = await askTool(gateway, 'own', 'pid')
  const config = ['--config', sandbox.path('team.json')]
  const folder = `${sandbox.home}/.local/state/busbar`
  await gateway.end('SIGTERM')
  expect([sandbox.exists(`${folder}/gateway.sock`), sandbox.exists(`${folder}/gateway.lock`)]).toEqual([
    false,
    false,
  ])
  expect(isAlive(pid)).toBe(false)

  const child = sandbox.start(['up', '--port', '0', ...config])
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (data) => (text += data))
  const ended = once(child, 'close')
  onTestFinished(() => void child.kill('SIGKILL'))
  const url = await until(() => /listens on (\S+)/.exec(text)?.[1])
  const post = (name: string) =>
    fetch(`${url}/mcp/own`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: {} } }),
    })
  const { result } = (await (await post('pid')).json()) as Answer
  const server = Number(result.content[0].text)
  const hanging = [post('hang'), post('hang')].map((call) => call.catch(() => 'lost'))
  await until(async () => {
    const answer = await fetch(`${url}/api/servers`, { headers: ownerOf(sandbox) })
    return ((await answer.json()) as Answer).servers[0].inFlight === 2
  })
  child.kill('SIGINT')
  await until(() => text.includes('stopping; 2 calls under way, Ctrl-C again ends them\n'))
  const refused = await post('pid')
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5'])
  expect(await refused.json()).toMatchObject({
    jsonrpc: '2.0',
    id: 1,
    error: { data: { code: 'CLOSED' } },
  })
  child.kill('SIGINT')
  await ended
  expect(child.exitCode).toBe(130)
  await Promise.all(hanging)
  expect(isAlive(server)).toBe(false)
  expect([sandbox.exists(`${folder}/gateway.sock`), sandbox.exists(`${folder}/gateway.lock`)]).toEqual([
    false,
    false,
  ])
})
