// Shows Busbar at work on the configuration beside this file, in a folder of its own that is removed again. One small
// server is started, the one beside this file; nothing is installed and nothing outside this machine is contacted.
import { spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const binary = fileURLToPath(new URL('../../dist/bin.js', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'busbar-tour-'))
const env = { ...process.env, BUSBAR_HOME: join(folder, 'home'), DOCS_TOKEN: '', CTO_TOKEN: randomUUID() }
for (const file of ['busbar.yaml', 'notes.mjs'])
  copyFileSync(new URL(file, import.meta.url), join(folder, file))

function say(text) {
  console.log(`\n${text}`)
}

function busbar(args, expected = 0) {
  console.log(`\n$ busbar ${args.map((word) => (/[\s"]/.test(word) ? `'${word}'` : word)).join(' ')}`)
  const { status, stdout, stderr } = spawnSync(process.execPath, [binary, ...args], {
    cwd: folder,
    env,
    encoding: 'utf8',
  })
  process.stdout.write(stdout)
  process.stdout.write(stderr)
  if (status !== expected) throw new Error(`exit ${status} instead of ${expected}`)
}

/** The id of the question that waits. */
function openQuestion() {
  const { stdout } = spawnSync(process.execPath, [binary, 'approve', 'list', '--json'], {
    cwd: folder,
    env,
    encoding: 'utf8',
  })
  return JSON.parse(stdout).approvals[0].id
}

/** Runs the gateway for as long as `work` takes; Ctrl-C is how a person would end it. */
async function withGateway(config, work) {
  console.log(`\n$ busbar up --port 0 --config ${config} --json &`)
  const child = spawn(process.execPath, [binary, 'up', '--port', '0', '--config', config, '--json'], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const line = await new Promise((resolve, reject) => {
      child.stdout.once('data', (chunk) => resolve(String(chunk)))
      child.once('exit', (code) => reject(new Error(`the gateway ended with ${code}`)))
    })
    process.stdout.write(line)
    await work(JSON.parse(line))
  } finally {
    child.kill('SIGINT')
    await new Promise((resolve) => (child.exitCode === null ? child.once('exit', resolve) : resolve()))
  }
}

/** What any MCP client does, by hand. */
async function request(url, body) {
  console.log(
    `\n$ curl ${url} -H 'Authorization: Bearer $CTO_TOKEN' -H 'Content-Type: application/json' -d '${body}'`,
  )
  const headers = { authorization: `Bearer ${env.CTO_TOKEN}`, 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body })
  console.log(await response.text())
  if (!response.ok) throw new Error(`status ${response.status}`)
}

try {
  say('A team of agents and the servers they share, from one file:')
  busbar(['list'])
  busbar(['agents', 'list'])
  say('Each value knows its file and line; a secret stays a reference:')
  busbar(['get', 'docs'])
  say('Nothing in a project file runs before a person has seen it:')
  busbar(['trust', '--yes'])
  say('A server is started, asked what it has, and called; then nothing of it is left:')
  busbar(['list', '--check', 'notes'])
  busbar(['tools', 'notes'])
  busbar(['call', 'notes/add', 'text=It works'])
  say('An agent has to ask a person first, who sees the very call; the answer is good for that, once:')
  busbar(['call', 'notes/add', 'text=May I?', '--agent', 'cto'], 7)
  busbar(['approve', 'list'])
  busbar(['approve', 'allow', openQuestion()])
  busbar(['call', 'notes/add', 'text=May I?', '--agent', 'cto'])
  say('The gateway: any MCP client, with the token of an agent:')
  const only = { servers: { notes: { command: 'node', args: ['${workspaceFolder}/notes.mjs'] } } }
  const agents = { cto: { servers: ['notes'], token: '${CTO_TOKEN}', approval: 'never' } }
  writeFileSync(join(folder, 'gateway.json'), JSON.stringify({ ...only, agents }))
  busbar(['trust', '--yes', '--config', 'gateway.json'])
  await withGateway('gateway.json', async ({ url }) => {
    await request(
      `${url}/mcp/notes`,
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"text":"From a client"}}}',
    )
  })
  say('Editing keeps every comment and every other byte:')
  const before = readFileSync(join(folder, 'busbar.yaml'), 'utf8').split('\n')
  busbar(['add', 'tickets', '--agent', 'cto', '--', 'npx', '-y', '@example/tickets@1.0.0'])
  const after = readFileSync(join(folder, 'busbar.yaml'), 'utf8').split('\n')
  for (const line of after) if (!before.includes(line)) console.log(`+ ${line}`)
  say('A typo is caught when the file is read, with the line and what was meant:')
  const broken = readFileSync(join(folder, 'busbar.yaml'), 'utf8').replace(
    'servers: [docs]',
    'servers: [docz]',
  )
  writeFileSync(join(folder, 'typo.yaml'), broken.replace('description: The', 'descripton: The'))
  busbar(['config', 'check', '--config', 'typo.yaml'], 1)
  say(`Use it for real:
  busbar import --dry-run     what your other tools already have
  busbar integrations list    what the catalog offers
  busbar up                   the gateway
  busbar --help`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
