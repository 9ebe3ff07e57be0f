// What a command costs that needs no server: the whole process, beside a bare `node -e 0`.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BUSBAR } from '../systems.mjs'

const SERVERS = 20
const TURNS = 5
const NUMBERS = Array.from({ length: SERVERS }, (_, index) => index)

export const start = {
  name: 'start',
  about: 'a command from its start to its end, which needs no server',
  columns: [{ key: 'time', title: 'ms', compare: 'ratio' }],
  *round(stage) {
    const folder = stage.folder()
    const home = join(folder, 'home')
    for (const [name, text] of Object.entries(FILES)) writeFileSync(join(folder, name), text)
    for (let turn = 0; turn < TURNS; turn++)
      for (const [name, args, first] of CASES)
        yield {
          group: 'commands',
          name,
          // Of a file that it has not seen before, nothing is remembered.
          values: () => timed(stage, args, folder, first ? join(folder, `new-${turn}-${args.at(-1)}`) : home),
        }
  },
}

async function timed(stage, args, cwd, home) {
  const env = { HOME: cwd, BUSBAR_HOME: home, NO_COLOR: '1' }
  const began = performance.now()
  const child = stage.start(process.execPath, args, { env, cwd, stdio: 'ignore' })
  const code = await new Promise((resolve) => child.once('exit', resolve))
  const time = performance.now() - began
  if (code !== 0) throw new Error(`busbar ${args.slice(1).join(' ')} ended with ${code}`)
  await stage.stop(child)
  return { time }
}

const list = (file) => [BUSBAR, 'list', '--config', file]
const CASES = [
  ['node -e 0', ['-e', '0'], false],
  ['busbar --version', [BUSBAR, '--version'], false],
  ['busbar --help', [BUSBAR, '--help'], false],
  [`busbar list, ${SERVERS} servers, JSON`, list('team.json'), false],
  [`busbar list, ${SERVERS} servers, YAML`, list('team.yaml'), false],
  [`busbar list, ${SERVERS} servers, YAML, first time`, list('team.yaml'), true],
  [`busbar list, ${SERVERS} servers with nine keys each, YAML`, list('rich.yaml'), false],
  [`busbar list, ${SERVERS} servers with nine keys each, YAML, first time`, list('rich.yaml'), true],
]

const AGENTS = 'agents:\n  cto: { servers: ["*"] }\n'

const server = (number) => ({
  command: 'npx',
  args: ['-y', `@example/server-${number}@1.0.0`],
  env: { TOKEN: '${HOME}' },
  description: `Server ${number}`,
})

const yaml = (number) => `  s${number}:
    command: npx
    args: ["-y", "@example/server-${number}@1.0.0"]
    env: {"TOKEN": "\${HOME}"}
    description: Server ${number}
`

/** Everything a person may say about a server. */
const rich = (number) => `  s${number}:
    command: npx
    args: [-y, "@example/s${number}@1.0.0", "--dir", "\${workspaceFolder}"]
    env: { TOKEN: "\${HOME}", OTHER: "\${HOME}" }
    description: Server ${number} does things
    category: development
    timeouts: { connect: 10s, call: 60s }
    approval: { "get_*": allow, "merge_*": ask }
    tools: { include: ["*"], exclude: ["delete_*"] }
`

const FILES = {
  'team.json': JSON.stringify({
    servers: Object.fromEntries(NUMBERS.map((number) => [`s${number}`, server(number)])),
    agents: { cto: { servers: ['*'] } },
  }),
  'team.yaml': `version: 1\nservers:\n${NUMBERS.map(yaml).join('')}${AGENTS}`,
  'rich.yaml': `version: 1\nservers:\n${NUMBERS.map(rich).join('')}${AGENTS}`,
}
