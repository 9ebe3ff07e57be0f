// `busbar up` and `busbar serve --stdio` with a configuration of which a part is broken: what is sound starts, what is not
// is told; nothing starts where it is not known whom that would have limited.

import { expect, test } from 'vitest'
import { serverCommand } from '../servers/start.ts'
import type { Sandbox } from './cli.ts'
import { AGENTS, type Answer, type Gateway, place, TOKEN, until, up, userFile } from './hub.ts'

const plain = serverCommand('plain')
const SOUND = { servers: { plain }, agents: AGENTS }
const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
}

interface Case {
  readonly title: string
  readonly user?: object
  readonly files?: Record<string, string>
  /** What the warning says. */
  readonly told: RegExp
  /** The server that is shown as failed. */
  readonly failed?: string
}

const CASES: Case[] = [
  {
    title: 'a bad entry of the user’s file',
    user: { ...SOUND, servers: { plain, bad: { command: 5 } } },
    told: /config\.yaml:1: servers\.bad\.command is 5; expected text/,
    failed: 'bad',
  },
  {
    title: 'a bad entry of another tool’s file',
    files: { '.mcp.json': '{"mcpServers":{"x":{"command":5}}}' },
    told: /\.mcp\.json:1: mcpServers\.x\.command is 5; expected text/,
    failed: 'x',
  },
  {
    title: 'a file of another tool that does not parse',
    files: { '.mcp.json': '{"mcpServers":{' },
    told: /\.mcp\.json:1: /,
  },
  {
    title: 'a project’s file that does not parse',
    files: { 'busbar.yaml': 'servers: [' },
    told: /busbar\.yaml:1: /,
  },
  {
    title: 'a project’s file with a bad section that nobody trusts',
    files: { 'busbar.yaml': 'defaults: { approval: nevr }' },
    told: /busbar\.yaml:1: defaults\.approval is "nevr"; expected one of .*; did you mean "never"\?/,
  },
  {
    title: 'an agent of the user’s file',
    user: { ...SOUND, agents: { ...AGENTS, bob: { servers: ['plain'], approval: 'nevr' } } },
    told: /config\.yaml:1: agents\.bob\.approval is "nevr"/,
  },
  {
    title: 'a list with an unknown name',
    user: { ...SOUND, defaults: { servers: ['plan'] } },
    told: /defaults\.servers\[0\] is "plan", which is no known server; did you mean "plain"\?/,
  },
]

for (const { title, user = SOUND, files = {}, told, failed } of CASES)
  test(`[C3][B10] with ${title} the gateway starts, serves what is sound and says what is not`, async () => {
    const { sandbox } = place()
    for (const [name, text] of Object.entries(files)) sandbox.write(name, text)
    const gateway = await up(sandbox, user, { user: true })
    expect((await gateway.ask('plain', 'tools/list')).result.tools).toHaveLength(11)
    const warnings = gateway
      .stderr()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).warning)
    expect(warnings.filter((line) => told.test(line))).not.toEqual([])
    if (failed === undefined) return
    const states = await statusOf(sandbox, gateway)
    expect(states.find(({ name }) => name === failed)).toMatchObject({ status: 'failed', error: told })
  })

test('[C3][B1] on stdin and stdout as well, and on stderr in words', async () => {
  const { sandbox } = place()
  sandbox.write(userFile(sandbox), JSON.stringify({ ...SOUND, servers: { plain, bad: { command: 5 } } }))
  sandbox.write('.mcp.json', '{')
  const result = await sandbox.run(['serve', '--stdio'], {
    env: { BUSBAR_TOKEN: TOKEN },
    input: `${JSON.stringify(INITIALIZE)}\n`,
  })
  expect(result.json).toMatchObject({ id: 1, result: { serverInfo: { name: 'busbar' } } })
  expect(result.stderr).toMatch(/^warning: .*config\.yaml:1: servers\.bad\.command is 5/m)
  expect(result.stderr).toMatch(/^warning: .*\.mcp\.json:1: /m)
})

const LIMITS = { ada: { ...AGENTS.ada, deny: ['plain/echo'] } }

const REFUSED: { title: string; user?: string; before?: string; project?: string; told: RegExp }[] = [
  { title: 'the user’s file does not parse', user: 'agents: [', told: /config\.yaml:1: / },
  {
    title: 'a section of the user’s file is bad',
    user: JSON.stringify({ ...SOUND, defaults: { approval: 'alway' } }),
    told: /defaults\.approval is "alway"/,
  },
  {
    title: 'a key of the user’s file is unknown',
    user: JSON.stringify({ ...SOUND, agnets: LIMITS }),
    told: /agnets is not a known key; did you mean "agents"\?/,
  },
  {
    title: 'a project’s file that was trusted does not parse',
    before: JSON.stringify({ agents: LIMITS }),
    project: '{',
    told: /busbar\.yaml:1: /,
  },
  {
    title: 'an agent in a project’s file that was trusted is bad',
    before: JSON.stringify({ agents: LIMITS }),
    project: JSON.stringify({ agents: { ada: { ...LIMITS.ada, approval: 'nevr' } } }),
    told: /agents\.ada\.approval is "nevr"/,
  },
  {
    title: 'a trusted file with a server that hid another does not parse',
    before: JSON.stringify({ servers: { plain: { ...plain, tools: { exclude: ['echo'] } } } }),
    project: '{',
    told: /busbar\.yaml:1: /,
  },
]

for (const { title, user = JSON.stringify(SOUND), before, project, told } of REFUSED)
  test(`[C3][C11] nothing starts when ${title}, because what it limited is not known`, async () => {
    const { sandbox } = place()
    sandbox.write(userFile(sandbox), user)
    if (before !== undefined) {
      sandbox.write('busbar.yaml', before)
      expect((await sandbox.run(['trust', '--yes'])).code).toBe(0)
    }
    if (project !== undefined) sandbox.write('busbar.yaml', project)
    const result = await sandbox.run(['up', '--port', '0'])
    expect(result).toMatchObject({ code: 1, stdout: '' })
    expect(result.stderr).toMatch(told)
    expect(result.stderr).toContain('nothing starts while it is not known what this limits')
  })

test('[C3][D14] what was broken at the start keeps no other edit away, and what breaks later does not count', async () => {
  const { sandbox } = place()
  const bad = { command: 5 }
  const gateway = await up(sandbox, { ...SOUND, servers: { plain, bad } }, { user: true })
  const write = (servers: object) =>
    sandbox.write(userFile(sandbox), JSON.stringify({ ...SOUND, servers: { plain, ...servers } }))
  write({ bad, more: plain })
  await until(() => gateway.stderr().includes('connected') || tools(gateway, 'more'))
  write({ bad, more: { command: 6 } })
  await until(() => gateway.stderr().includes('the change was refused'))
  expect(await tools(gateway, 'more')).toBe(true)
})

async function tools(gateway: Gateway, server: string): Promise<boolean> {
  return (await gateway.ask(server, 'tools/list')).result?.tools.length === 11
}

async function statusOf(sandbox: Sandbox, { url }: Gateway): Promise<Answer[]> {
  const token = sandbox.read(`${sandbox.home}/.local/state/busbar/admin-token`).trim()
  const answer = await fetch(`${url}/api/servers`, { headers: { authorization: `Bearer ${token}` } })
  return ((await answer.json()) as Answer).servers
}
