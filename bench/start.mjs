// What a command costs that needs no server: the whole process, as a ratio to a bare `node -e 0` of the same run.
// Runs take turns, so that whatever else the machine does falls on all alike. Prints a table; decides nothing.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROUNDS = Number(process.argv[2] ?? 30)
const SERVERS = 20
const binary = fileURLToPath(new URL('../dist/bin.js', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'busbar-bench-'))
const env = { ...process.env, HOME: folder, BUSBAR_HOME: join(folder, 'home'), NO_COLOR: '1' }

const servers = Array.from({ length: SERVERS }, (_, index) => [
  `s${index}`,
  {
    command: 'npx',
    args: ['-y', `@example/server-${index}@1.0.0`],
    env: { TOKEN: '${HOME}' },
    description: `Server ${index}`,
  },
])
const yaml = servers.map(
  ([name, { command, args, env: variables, description }]) =>
    `  ${name}:\n    command: ${command}\n    args: ${JSON.stringify(args)}\n    env: ${JSON.stringify(variables)}\n    description: ${description}\n`,
)
// Everything a person may say about a server, in every entry.
const rich = servers.map(
  ([name]) => `  ${name}:
    command: npx
    args: [-y, "@example/${name}@1.0.0", "--dir", "\${workspaceFolder}"]
    env: { TOKEN: "\${HOME}", OTHER: "\${HOME}" }
    description: Server ${name} does things
    category: development
    timeouts: { connect: 10s, call: 60s }
    approval: { "get_*": allow, "merge_*": ask }
    tools: { include: ["*"], exclude: ["delete_*"] }
`,
)
writeFileSync(
  join(folder, 'rich.yaml'),
  `version: 1\nservers:\n${rich.join('')}agents:\n  cto: { servers: ["*"] }\n`,
)
writeFileSync(
  join(folder, 'team.yaml'),
  `version: 1\nservers:\n${yaml.join('')}agents:\n  cto: { servers: ["*"] }\n`,
)
writeFileSync(
  join(folder, 'team.json'),
  JSON.stringify({ servers: Object.fromEntries(servers), agents: { cto: { servers: ['*'] } } }, null, 2),
)

const CASES = {
  'node -e 0': ['-e', '0'],
  'busbar --version': [binary, '--version'],
  'busbar --help': [binary, '--help'],
  [`busbar list, ${SERVERS} servers, YAML`]: [binary, 'list', '--config', 'team.yaml'],
  [`busbar list, ${SERVERS} servers with nine keys each, YAML`]: [binary, 'list', '--config', 'rich.yaml'],
  [`busbar list, ${SERVERS} servers, YAML, first run`]: [binary, 'list', '--config', 'team.yaml'],
  [`busbar list, ${SERVERS} servers with nine keys each, YAML, first run`]: [
    binary,
    'list',
    '--config',
    'rich.yaml',
  ],
  [`busbar list, ${SERVERS} servers, JSON`]: [binary, 'list', '--config', 'team.json'],
}

const times = Object.fromEntries(Object.keys(CASES).map((name) => [name, []]))
try {
  for (let round = 0; round < ROUNDS; round++)
    for (const [name, args] of Object.entries(CASES)) {
      const start = performance.now()
      // The first run after an edit: nothing is remembered of the file.
      const cold = name.endsWith('first run')
        ? { BUSBAR_HOME: join(folder, `cold-${round}-${args.at(-1)}`) }
        : {}
      const { status } = spawnSync(process.execPath, args, {
        cwd: folder,
        env: { ...env, ...cold },
        stdio: 'ignore',
      })
      times[name].push(performance.now() - start)
      if (status !== 0) throw new Error(`${name} exited with ${status}`)
    }
} finally {
  rmSync(folder, { recursive: true, force: true })
}

const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1]
const least = (list) => Math.min(...list)
const bare = times['node -e 0']
console.log(
  `| ${ROUNDS} rounds, Node ${process.versions.node} | median ms | ratio | best ms | ratio of best |`,
)
console.log('|---|---:|---:|---:|---:|')
for (const [name, list] of Object.entries(times))
  console.log(
    `| ${name} | ${median(list).toFixed(1)} | ${(median(list) / median(bare)).toFixed(2)} | ${least(list).toFixed(1)} | ${(least(list) / least(bare)).toFixed(2)} |`,
  )
