// A command that has returned has been heard: the very next call at the running gateway goes by what it wrote.

import { expect, onTestFinished, test } from 'vitest'
import { serverCommand } from '../servers/start.ts'
import type { Sandbox } from './cli.ts'
import { call } from './echo-call.ts'
import { AGENTS, type Gateway, place, until, up, userFile } from './hub.ts'

const TIMES = 20
const plain = serverCommand('plain')

async function started(): Promise<{ sandbox: Sandbox; gateway: Gateway }> {
  const { sandbox } = place()
  const gateway = await up(
    sandbox,
    { servers: { plain }, agents: AGENTS, approvals: { wait: 0 } },
    { user: true },
  )
  expect(await call(gateway)).toBe('ok')
  return { sandbox, gateway }
}

const LONG = { timeout: 180_000 }

for (const [what, words, refused] of [
  ['an agent', (word: string) => ['agents', word, 'ada'], '401'],
  ['a server', (word: string) => [word, 'plain'], 'SERVER_UNAVAILABLE'],
] as const)
  test(
    `[D14][C11] ${what} that is switched off is off for the next call, and on for the one after that`,
    LONG,
    async () => {
      const { sandbox, gateway } = await started()
      for (let time = 0; time < TIMES; time++) {
        const off = await sandbox.run(words('disable'))
        expect([time, off.code, off.stderr, await call(gateway)]).toEqual([
          time,
          0,
          expect.any(String),
          refused,
        ])
        expect(off.stderr).not.toContain('taken')
        const on = await sandbox.run(words('enable'))
        expect([time, on.code, await call(gateway)]).toEqual([time, 0, 'ok'])
      }
    },
  )

test('[C11] a token that was revoked opens nothing from the next call on', LONG, async () => {
  const { sandbox, gateway } = await started()
  for (let time = 0; time < TIMES; time++) {
    const { token, id } = (await sandbox.run(['agents', 'token', 'ada', '--json'])).json
    expect([time, await call(gateway, token)]).toEqual([time, 'ok'])
    const { code } = await sandbox.run(['agents', 'token', 'ada', '--revoke', '--id', id])
    expect([time, code, await call(gateway, token)]).toEqual([time, 0, '401'])
  }
})

test('[D14][C11] what an agent may use, an agent that is new or removed, and a server that is removed count at once', async () => {
  const { sandbox, gateway } = await started()
  await sandbox.run(['agents', 'revoke', 'ada', 'plain/echo'])
  expect(await call(gateway)).toBe('NO_ACCESS')
  await sandbox.run(['agents', 'grant', 'ada', 'plain/echo'])
  expect(await call(gateway)).toBe('ok')
  await sandbox.run(['agents', 'approval', 'ada', 'always'])
  expect(await call(gateway)).toBe('APPROVAL_PENDING')
  await sandbox.run(['agents', 'approval', 'ada', 'never'])
  expect(await call(gateway)).toBe('ok')
  await sandbox.run(['agents', 'add', 'bob', '--server', 'plain', '--approval', 'never'])
  const { token } = (await sandbox.run(['agents', 'token', 'bob', '--json'])).json
  expect(await call(gateway, token)).toBe('ok')
  await sandbox.run(['agents', 'remove', 'bob'])
  expect(await call(gateway, token)).toBe('401')
  await sandbox.run(['remove', 'plain'])
  expect(await call(gateway)).toMatch(/^(?:404|NO_ACCESS|SERVER_UNKNOWN)$/)
})

test('[D14] what is not trusted any more is not in force when the command returns, and is when it is trusted again', async () => {
  const { sandbox } = place()
  const gateway = await up(sandbox, { servers: { plain }, agents: AGENTS })
  const from = ['--config', sandbox.path('team.json')]
  expect((await sandbox.run(['trust', '--revoke', 'plain', ...from])).code).toBe(0)
  expect(await call(gateway)).not.toBe('ok')
  const { code, stderr } = await sandbox.run(['trust', '--yes', ...from])
  expect([code, await call(gateway)]).toEqual([0, 'ok'])
  expect(stderr).not.toContain('taken')
})

test('[D14] a command says that the gateway has not taken over what it wrote, and why', async () => {
  const { sandbox, gateway } = await started()
  const file = userFile(sandbox)
  const good = sandbox.read(file)
  // Somebody edits the same file by hand, and not well.
  sandbox.write(file, JSON.stringify({ ...JSON.parse(good), gateway: { limits: { body: 'huge' } } }))
  await until(() => gateway.stderr().includes('refused'))
  const loose = await sandbox.run(['agents', 'approval', 'ada', 'always'])
  expect([loose.code, loose.stderr]).toEqual([
    0,
    expect.stringMatching(
      /it is written, but the running gateway goes by the last good configuration, and by what is switched off: .*gateway\.limits\.body/,
    ),
  ])
  expect(await call(gateway)).toBe('ok')
  // Who is switched off is off whatever else is wrong there.
  expect((await sandbox.run(['agents', 'disable', 'ada'])).code).toBe(0)
  expect(await call(gateway)).toBe('401')
  expect((await sandbox.run(['agents', 'enable', 'ada'])).code).toBe(0)
  expect(await call(gateway)).toBe('ok')
  expect((await sandbox.run(['agents', 'remove', 'ada'])).code).toBe(0)
  expect(await call(gateway)).toBe('401')
  // As it was before all of this.
  sandbox.write(file, good)
  await until(async () => (await call(gateway)) === 'ok')
})

test('[D14] a command on a file that is refused takes from nobody what was trusted before, until it is trusted no more', async () => {
  const { sandbox } = place()
  const agents = { ...AGENTS, eve: { servers: ['*'], approval: 'never' } }
  const gateway = await up(sandbox, { servers: { plain }, agents })
  const file = sandbox.path('team.json')
  const from = ['--config', file]
  const { token } = (await sandbox.run(['agents', 'token', 'eve', '--json', ...from])).json
  const both = async () => [await call(gateway), await call(gateway, token)]
  expect(await both()).toEqual(['ok', 'ok'])
  // Two entries that cannot be read: a limit that is none, and that of ada.
  const wrong = { ...JSON.parse(sandbox.read(file)), gateway: { limits: { x: 1 } } }
  wrong.agents.ada.servers = 5
  sandbox.write(file, JSON.stringify(wrong))
  await until(() => gateway.stderr().includes('refused'))
  expect((await sandbox.run(['trust', '--yes', ...from])).code).toBeLessThanOrEqual(1)
  const { code, stderr } = await sandbox.run(['agents', 'disable', 'eve', ...from])
  expect([code, stderr]).toEqual([0, expect.stringContaining('the last good configuration')])
  expect(await both()).toEqual(['ok', '401'])
  await sandbox.run(['agents', 'remove', 'eve', ...from])
  expect(await both()).toEqual(['ok', '401'])
  // What is mended is in force again by itself, because all of it was trusted.
  const mended = { ...JSON.parse(sandbox.read(file)), gateway: {} }
  mended.agents.ada.servers = ['*']
  sandbox.write(file, JSON.stringify(mended))
  await sandbox.run(['trust', '--yes', ...from])
  expect(await both()).toEqual(['ok', '401'])
  sandbox.write(file, JSON.stringify({ ...mended, gateway: { limits: { x: 1 } } }))
  await until(() => gateway.stderr().split('refused').length > 2)
  expect((await sandbox.run(['trust', '--revoke', ...from])).code).toBe(0)
  expect(await call(gateway)).toBe('401')
})

test('[D14] settings of a file that nobody has trusted are told not to be in force', async () => {
  const { sandbox } = place()
  const config = { servers: { plain }, agents: AGENTS }
  const gateway = await up(sandbox, config)
  const from = ['--config', sandbox.path('team.json')]
  const loose = { ...AGENTS, eve: { servers: ['*'], approval: 'never' } }
  sandbox.write('team.json', JSON.stringify({ ...config, agents: loose }))
  await until(() => gateway.stderr().includes('not trusted'))
  const { code, stderr } = await sandbox.run(['agents', 'disable', 'ada', ...from])
  expect(code).toBe(0)
  expect(stderr).toMatch(
    /it is written, but the settings of team\.json are not trusted, so the running gateway goes by what was trusted last, and by what is switched off; run: busbar trust/,
  )
  // Only what takes away counts before somebody has looked: ada is off, and eve is nobody yet.
  expect(await call(gateway)).toBe('401')
  const agents = await sandbox.run(['agents', 'token', 'eve', ...from])
  expect([agents.code, agents.stderr]).toEqual([1, expect.stringContaining('not trusted')])
})

test('[D14] a command about files that the gateway does not follow says nothing of it', async () => {
  const { sandbox } = await started()
  const file = sandbox.write(
    'other.json',
    JSON.stringify({ servers: {}, agents: { eve: { approval: 'never' } } }),
  )
  const { code, stderr } = await sandbox.run(['agents', 'disable', 'eve', '--config', file])
  expect([code, stderr.includes('gateway')]).toEqual([0, false])
})

test('[C11] a gateway that is stopped by a signal is told to be stuck, and nobody waits for it longer', async () => {
  const { sandbox, gateway } = await started()
  gateway.child.kill('SIGSTOP')
  onTestFinished(() => void gateway.child.kill('SIGCONT'))
  const { code, error } = await sandbox.run(['agents', 'token', 'ada', '--json'])
  expect([code, error]).toMatchObject([
    4,
    { code: 'CALL_TIMEOUT', hint: expect.stringContaining('busbar up') },
  ])
})

test('[A8] what stands in a file that cannot be read is not told to be missing', async () => {
  const { sandbox } = await started()
  sandbox.write(userFile(sandbox), `${sandbox.read(userFile(sandbox))}\n  : : [`)
  for (const words of [
    ['agents', 'disable', 'ada'],
    ['disable', 'plain'],
    ['agents', 'remove', 'ada'],
  ]) {
    const { code, error } = await sandbox.run([...words, '--json'])
    expect([code, error.message, error.hint]).toEqual([
      1,
      expect.stringContaining('in what can be read; '),
      'run: busbar config check',
    ])
  }
})
