// A server that was switched in the running gateway alone, through its API, and the commands that switch and show it.

import { expect, test } from 'vitest'
import { serverCommand } from '../servers/start.ts'
import { AGENTS, type Gateway, place, up, userFile } from './hub.ts'
import { owner } from './owner.ts'

const CONFIG = { servers: { plain: serverCommand('plain') }, agents: AGENTS }

async function call(gateway: Gateway): Promise<string> {
  const { result } = await gateway.ask('plain', 'tools/call', { name: 'echo', arguments: { text: 'x' } })
  return result.isError ? result._meta['busbar/fault'].code : 'ok'
}

test('[B3][B12] busbar enable shows again what is hidden or off in the running gateway alone, and says so', async () => {
  const { sandbox } = place()
  const gateway = await up(sandbox, CONFIG, { user: true })
  const ask = owner(sandbox, gateway)
  expect((await sandbox.run(['enable', 'plain'])).stdout).toBe('plain is on already.\n')
  for (const [what, body] of [
    ['toggle', { visible: false }],
    ['disable', {}],
  ] as const) {
    expect((await ask(`POST /api/servers/plain/${what}`, body)).status).toBe(200)
    expect(await call(gateway)).toBe('SERVER_UNAVAILABLE')
    const { code, stdout } = await sandbox.run(['enable', 'plain'])
    expect([code, stdout]).toEqual([
      0,
      'plain is on already; in the running gateway it was not, and is on there again: connected.\n',
    ])
    expect(await call(gateway)).toBe('ok')
  }
  await ask('POST /api/servers/plain/toggle', { visible: false })
  expect((await sandbox.run(['enable', 'plain', '--json'])).json).toEqual({
    name: 'plain',
    enabled: true,
    changed: false,
    running: 'connected',
  })
  // Hidden, and then switched off and on in the file.
  await ask('POST /api/servers/plain/toggle', { visible: false })
  expect((await sandbox.run(['disable', 'plain'])).code).toBe(0)
  expect((await sandbox.run(['enable', 'plain'])).stdout).toBe('plain is on.\n')
  expect(await call(gateway)).toBe('ok')
})

test('[B3] busbar disable switches off what is on in the running gateway alone', async () => {
  const { sandbox } = place()
  const gateway = await up(sandbox, CONFIG, { user: true })
  const ask = owner(sandbox, gateway)
  expect((await sandbox.run(['disable', 'plain'])).stdout).toBe('plain is off.\n')
  expect((await sandbox.run(['disable', 'plain'])).stdout).toBe('plain is off already.\n')
  expect((await ask('POST /api/servers/plain/enable', {})).answer.server.status).toBe('connected')
  expect(await call(gateway)).toBe('ok')
  expect((await sandbox.run(['disable', 'plain'])).stdout).toContain('off there again: disabled')
  expect(await call(gateway)).toBe('SERVER_UNAVAILABLE')
})

test('[A0] neither is a word against everything being off, nor to a gateway that follows other files', async () => {
  const { sandbox } = place()
  const gateway = await up(sandbox, { ...CONFIG, enabled: false }, { user: true })
  expect((await sandbox.run(['enable', 'plain'])).stdout).toBe('plain is on already.\n')
  expect(await call(gateway)).toBe('SERVER_UNAVAILABLE')
  const other = sandbox.write('other.json', JSON.stringify(CONFIG))
  const words = ['enable', 'plain', '--trust', '--config', other]
  expect((await sandbox.run(words)).stdout).toBe('plain is on already.\n')
  expect(await call(gateway)).toBe('SERVER_UNAVAILABLE')
})

test('[B5] busbar get says how a server is in the running gateway, as busbar list does', async () => {
  const { sandbox } = place()
  sandbox.write(userFile(sandbox), JSON.stringify(CONFIG))
  expect((await sandbox.run(['get', 'plain'])).stdout).toContain('plain  pending')
  const gateway = await up(sandbox, CONFIG, { user: true })
  expect(await call(gateway)).toBe('ok')
  expect((await sandbox.run(['get', 'plain'])).stdout).toContain('plain  connected')
  const { status, tools } = (await sandbox.run(['get', 'plain', '--json'])).json
  const [listed] = (await sandbox.run(['list', '--json'])).json.servers
  expect([status, tools]).toEqual([listed.status, listed.tools])
  await owner(sandbox, gateway)('POST /api/servers/plain/disable', {})
  expect((await sandbox.run(['get', 'plain'])).stdout).toContain('plain  disabled')
})
