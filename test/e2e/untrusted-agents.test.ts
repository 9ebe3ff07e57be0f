// Agents of a project's file that is not trusted yet, or not any more: everybody says so, and a running gateway goes on with
// what was trusted last.

import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { serverCommand } from '../servers/start.ts'
import type { Sandbox } from './cli.ts'
import { AGENTS, type Answer, type Gateway, gatewayOf, place, TOKEN, until } from './hub.ts'

const plain = serverCommand('plain')
const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' }

/** `busbar up` in the project as it is. */
async function started(sandbox: Sandbox): Promise<Gateway> {
  const child = sandbox.start(['up', '--port', '0', '--json'])
  const ended = once(child, 'close')
  onTestFinished(async () => {
    child.kill('SIGTERM')
    await ended
  })
  return await gatewayOf(child, ended)
}

function project(sandbox: Sandbox, settings: object): string {
  return sandbox.write('busbar.yaml', JSON.stringify({ servers: { plain }, ...settings }))
}

const COMMANDS = [
  ['call', 'plain/echo', '--agent', 'ada'],
  ['agents', 'token', 'ada'],
  ['explain', 'ada', 'plain'],
  ['energy', 'ada'],
  ['energy', 'refill', 'ada'],
  ['prompt', 'ada'],
]

for (const running of [false, true])
  test(`[C11] an agent that waits for trust is not told to be added, ${running ? 'with' : 'without'} a gateway`, async () => {
    const { sandbox } = place()
    const file = project(sandbox, { agents: AGENTS })
    if (running) await started(sandbox)
    const said = await Promise.all(COMMANDS.map((words) => sandbox.run([...words, '--json'])))
    for (const { code, error } of said) {
      expect(code).toBe(1)
      expect(error).toMatchObject({
        code: 'NOT_TRUSTED',
        message: `ada stands in ${file}, which is not trusted yet`,
        hint: 'run: busbar trust',
      })
    }
  })

test('[C11][B10] up says which agents wait for trust, in words and for programs, and so does serve', async () => {
  const { sandbox } = place()
  const file = project(sandbox, { agents: AGENTS })
  const child = sandbox.start(['up', '--port', '0'])
  const ended = once(child, 'close')
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (data) => (text += data))
  await until(() => text.includes('Ctrl-C stops it'))
  expect(text).toContain(`ada stands in ${file}, which is not trusted yet: `)
  expect(text).toContain(`warning: not trusted, so not in force: the settings of ${file}; run: `)
  expect(text).not.toContain('No agents yet')
  const served = await sandbox.run(['serve', '--stdio'], { env: { BUSBAR_TOKEN: TOKEN } })
  expect(served.stderr).toContain(
    `ada may not come in, because ${file} is not trusted yet; run: busbar trust`,
  )
  child.kill('SIGTERM')
  await ended
  const again = sandbox.start(['up', '--port', '0', '--json'])
  let json = ''
  again.stdout?.on('data', (data) => (json += data))
  await until(() => json.includes('\n'))
  expect(JSON.parse(json)).toMatchObject({ agents: [], untrusted: ['ada'] })
  again.kill('SIGTERM')
  await once(again, 'close')
})

test('[C11] doctor goes on with everything else, and says that it is trust that is missing', async () => {
  const { sandbox } = place()
  const file = project(sandbox, { agents: AGENTS })
  await started(sandbox)
  const { json } = await sandbox.run(['doctor', '--json'])
  const findings: Answer[] = json.findings
  expect(findings.filter(({ message }) => message.includes('no agent is called'))).toEqual([])
  expect(findings).toContainEqual(
    expect.objectContaining({
      check: 'agent-trust',
      message: `ada stands in ${file}, which is not trusted yet, so nobody can act as it`,
      fix: 'busbar trust',
    }),
  )
  expect(findings).toContainEqual(expect.objectContaining({ check: 'gateway', severity: 'ok' }))
})

test('[C11][D14] an edit of trusted settings locks nobody out: what was trusted stays until the new is', async () => {
  const { sandbox } = place()
  const file = project(sandbox, { agents: AGENTS })
  await sandbox.run(['trust', '--yes'])
  const gateway = await started(sandbox)
  const tools = async (): Promise<string[] | number> => {
    const answer = await gateway.post('/mcp/plain', LIST)
    if (answer.status !== 200) return answer.status
    return ((await answer.json()) as Answer).result.tools.map(({ name }: Answer) => name)
  }
  const kept = `until then the settings of ${file} that you trusted last stay in force`
  const times = () => gateway.stderr().split(kept).length - 1
  const denying = { agents: { ada: { ...AGENTS.ada, deny: ['plain/echo'] } } }
  project(sandbox, { agents: { ...AGENTS, eve: { servers: ['*'], token: 'eve-token' } } })
  await until(() => times() === 1)
  expect(await tools()).toContain('echo')
  const eve = { authorization: 'Bearer eve-token' }
  expect((await gateway.post('/mcp/plain', LIST, eve)).status).toBe(401)
  const { json } = await sandbox.run(['doctor', '--no-start', '--json'])
  expect(json.findings).toContainEqual(
    expect.objectContaining({ check: 'gateway-config', message: expect.stringContaining('trusted last') }),
  )
  // Nobody acts as who is new in it.
  expect(json.findings.filter(({ check }: Answer) => check === 'agent-trust')).toEqual([
    expect.objectContaining({ message: expect.stringMatching(/^ada .*until then the gateway serves it as/) }),
    expect.objectContaining({ message: expect.stringMatching(/^eve .*so nobody can act as it$/) }),
  ])
  // One edit after the other is still beside what was trusted.
  project(sandbox, denying)
  await until(() => times() === 2)
  expect(await tools()).toContain('echo')
  await sandbox.run(['trust', '--yes'])
  await until(async () => !(await tools()).toString().includes('echo'))
  expect(await tools()).toContain('add')
  // What is trusted no more is not kept.
  await sandbox.run(['trust', '--revoke'])
  await until(async () => (await tools()) === 401)
})

test('[C11][D14] an agent is switched off also in a file that is not trusted as it is, and nobody else with it', async () => {
  const { sandbox } = place()
  const eve = { ...AGENTS.ada, token: 'eve-token' }
  project(sandbox, { agents: { ...AGENTS, eve } })
  await sandbox.run(['trust', '--yes'])
  const gateway = await started(sandbox)
  const statuses = async () => {
    const all = [TOKEN, 'eve-token'].map((token) =>
      gateway.post('/mcp/plain', LIST, { authorization: `Bearer ${token}` }),
    )
    return (await Promise.all(all)).map(({ status }) => status)
  }
  expect(await statuses()).toEqual([200, 200])
  project(sandbox, { agents: { ...AGENTS, eve }, lead: 'ada' })
  const off = await sandbox.run(['agents', 'disable', 'eve'])
  expect([off.code, await statuses()]).toEqual([0, [200, 401]])
  expect(off.stderr).toContain('not trusted, so the running gateway goes by what was trusted last')
  // Another look at the same changes nothing.
  await sandbox.run(['agents', 'approval', 'ada', 'never'])
  expect(await statuses()).toEqual([200, 401])
  expect((await sandbox.run(['agents', 'enable', 'eve'])).code).toBe(0)
  expect(await statuses()).toEqual([200, 200])
})

test('[C11] a file that is not trusted as it is can still switch everything off', async () => {
  const { sandbox } = place()
  project(sandbox, { agents: AGENTS })
  await sandbox.run(['trust', '--yes'])
  const gateway = await started(sandbox)
  project(sandbox, { enabled: false, agents: AGENTS })
  await until(async () => (await gateway.post('/mcp/plain', LIST)).status === 401)
})
