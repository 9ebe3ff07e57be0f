// What files switch off is off, whatever else is wrong with them; what they only lost for a moment is not.

import { mkdirSync, rmdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { serverCommand } from '../servers/start.ts'
import type { Sandbox } from './cli.ts'
import { call } from './echo-call.ts'
import { AGENTS, type Gateway, place, until, up, userFile } from './hub.ts'

const plain = serverCommand('plain')
const CONFIG = {
  servers: { plain },
  agents: { ada: { ...AGENTS.ada, workers: { aid: { servers: ['plain'] } } } },
}
const OWNER = 'owner-token-of-this-test-77'
const BAD = { bogus: 1 }

interface Run {
  readonly sandbox: Sandbox
  readonly gateway: Gateway
  /** What becomes of a call of the agent, and of its worker. */
  readonly both: () => Promise<string[]>
  /** Writes the person's own file, and waits until the gateway has looked at it. */
  readonly write: (config: object) => Promise<void>
}

async function started(config: object = CONFIG, project?: object): Promise<Run> {
  const { sandbox } = place()
  if (project) sandbox.write('busbar.json', JSON.stringify(project))
  const gateway = await up(sandbox, config, { user: true, env: { BUSBAR_ADMIN_TOKEN: OWNER } })
  const write = async (next: object) => {
    sandbox.write(userFile(sandbox), JSON.stringify(next))
    await looked(gateway)
  }
  const both = await callsOf(sandbox, gateway)
  expect(await both()).toEqual(['ok', 'ok'])
  return { sandbox, gateway, both, write }
}

async function callsOf(sandbox: Sandbox, gateway: Gateway): Promise<Run['both']> {
  const { token } = (await sandbox.run(['agents', 'token', 'ada/aid', '--json'])).json
  return async () => [await call(gateway), await call(gateway, token)]
}

/** What a command has the gateway do after it wrote something. */
async function looked(gateway: Gateway): Promise<void> {
  const answer = await gateway.post('/api/config/look', {}, { authorization: `Bearer ${OWNER}` })
  expect(answer.status).toBe(200)
}

test('[D14] a file that is gone, empty or misspelt for a moment takes its agents from nobody', async () => {
  const { sandbox, gateway, both, write } = await started()
  const file = userFile(sandbox)
  const good = sandbox.read(file)
  for (const [what, lose] of [
    ['gone', () => rmSync(file)],
    ['empty', () => sandbox.write(file, '')],
    ['misspelt', () => sandbox.write(file, good.replace('"agents"', '"agnets"'))],
  ] as const) {
    const before = gateway.stderr().length
    lose()
    await until(() => gateway.stderr().slice(before).includes('refused'))
    expect([what, ...(await both())]).toEqual([what, 'ok', 'ok'])
    await write(CONFIG)
  }
})

test('[D14] what is switched off or removed is, although something else there is wrong', async () => {
  const { gateway, both, write } = await started()
  const { ada } = CONFIG.agents
  const [aid] = Object.values(ada.workers)
  const off = { enabled: false }
  for (const [what, change, agent, worker] of [
    ['server', { servers: { plain: { ...plain, ...off } } }, 'SERVER_UNAVAILABLE', 'SERVER_UNAVAILABLE'],
    ['server removed', { servers: {} }, 'SERVER_UNAVAILABLE', 'SERVER_UNAVAILABLE'],
    ['worker', { agents: { ada: { ...ada, workers: { aid: { ...aid, ...off } } } } }, 'ok', '401'],
    ['worker removed', { agents: { ada: { ...ada, workers: {} } } }, 'ok', '401'],
    ['agent', { agents: { ada: { ...ada, ...off } } }, '401', '401'],
    ['agent that is wrong itself', { agents: { ada: { ...ada, ...off, servers: 5 } } }, '401', '401'],
    ['agent removed', { agents: {} }, '401', '401'],
  ] as const) {
    await write({ ...CONFIG, ...BAD, ...change })
    expect([what, ...(await both())]).toEqual([what, agent, worker])
    await write({ ...CONFIG, ...BAD })
    expect([what, ...(await both())]).toEqual([what, 'ok', 'ok'])
  }
  await write({ ...CONFIG, ...BAD, enabled: false })
  expect(await call(gateway)).not.toBe('ok')
  await write(CONFIG)
  expect(await call(gateway)).toBe('ok')
})

test('[D14][C11] a file that nobody has trusted has no say in who is off', async () => {
  const on = await started(CONFIG, { agents: { ada: { enabled: true } } })
  const off = { ...CONFIG, ...BAD, agents: { ada: { ...CONFIG.agents.ada, enabled: false } } }
  await on.write(off)
  expect(await call(on.gateway)).toBe('401')
  await on.write({ ...CONFIG, ...BAD, agents: {} })
  expect(await call(on.gateway)).toBe('401')

  const other = await started(CONFIG, { agents: { ada: { enabled: false } } })
  await other.write({ ...CONFIG, ...BAD })
  expect(await call(other.gateway)).toBe('ok')
})

test('[D14][C11] an agent is off also when the gateway cannot take over the rest; making its token mends that', async () => {
  const { sandbox } = place()
  const gateway = await up(
    sandbox,
    { ...CONFIG, gateway: { host: '::ffff:127.0.0.1', allowedHosts: ['[::ffff:7f00:1]'] } },
    { user: true, env: { BUSBAR_ADMIN_TOKEN: OWNER } },
  )
  const both = await callsOf(sandbox, gateway)
  expect(await both()).toEqual(['ok', 'ok'])
  const added = await sandbox.run(['agents', 'add', 'dev', '--server', 'plain', '-s', 'user'])
  expect(added.stderr).toContain('busbar agents token dev')
  for (const time of [1, 2]) {
    const { code, stderr } = await sandbox.run(['agents', 'disable', 'ada/aid'])
    expect([time, code, stderr]).toEqual([time, 0, expect.stringContaining('the last good configuration')])
    expect(await both()).toEqual(['ok', '401'])
  }
  const { code, json } = await sandbox.run(['agents', 'token', 'dev', '--json'])
  expect(code).toBe(0)
  await sandbox.run(['agents', 'approval', 'dev', 'never'])
  expect(await call(gateway, json.token)).toBe('ok')
})

test('[D14][C11] somebody who writes a file all the time does not keep a command from being heard', async () => {
  const { sandbox, gateway } = await started(CONFIG, { servers: { other: plain } })
  await sandbox.run(['trust', '--yes'])
  let time = 0
  const writer = setInterval(() => {
    time += 1
    const other = { ...plain, args: [...plain.args, `--n${time}`] }
    sandbox.write('busbar.json', JSON.stringify({ servers: { other } }))
  }, 300)
  onTestFinished(() => clearInterval(writer))
  await until(() => time > 2)
  expect((await sandbox.run(['agents', 'disable', 'ada'])).code).toBe(0)
  expect(await call(gateway)).toBe('401')
})

test('[D14][C11] what was trusted stays in force while newer content is refused, and when that is edited by hand', async () => {
  const { sandbox } = place()
  const agents = (servers: string[]) => ({ agents: { ada: { ...AGENTS.ada, servers } } })
  sandbox.write('busbar.json', JSON.stringify(agents(['plain'])))
  const user = { servers: { plain } }
  sandbox.write(userFile(sandbox), JSON.stringify(user))
  await sandbox.run(['trust', '--yes'])
  const gateway = await up(sandbox, user, { user: true, env: { BUSBAR_ADMIN_TOKEN: OWNER } })
  expect(await call(gateway)).toBe('ok')
  sandbox.write(userFile(sandbox), JSON.stringify({ ...user, ...BAD }))
  await sandbox.run(['agents', 'add', 'zoe', '--server', 'plain', '-s', 'project'])
  expect(await call(gateway)).toBe('ok')
  sandbox.write('busbar.json', JSON.stringify(agents(['plain', 'plain'])))
  await looked(gateway)
  expect(await call(gateway)).toBe('ok')
  sandbox.write(userFile(sandbox), JSON.stringify(user))
  await looked(gateway)
  expect(await call(gateway)).toBe('ok')
  expect((await sandbox.run(['trust', '--revoke', '--yes'])).code).toBe(0)
  expect(await call(gateway)).toBe('401')
})

test('[D14][C11] a gateway goes on when the answers to what is trusted cannot be read, and trusts nothing meanwhile', async () => {
  const { sandbox } = place()
  const config = { servers: { plain }, agents: AGENTS }
  const gateway = await up(sandbox, config)
  expect(await call(gateway)).toBe('ok')
  const trust = join(sandbox.home, '.local/state/busbar/trust.json')
  const answers = sandbox.read(trust)
  rmSync(trust)
  mkdirSync(trust)
  sandbox.write('team.json', JSON.stringify({ ...config, lead: 'ada' }))
  await until(() => gateway.stderr().includes('cannot be read'))
  expect(await call(gateway)).toBe('401')
  rmdirSync(trust)
  sandbox.write(trust, answers)
  sandbox.write('team.json', JSON.stringify(config))
  await until(async () => (await call(gateway)) === 'ok')
})
