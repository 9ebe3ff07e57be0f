// A team of agents as the first seed writes it down, run by a hub: what is off starts nothing, what cannot resolve holds up
// nobody, and Composio is a server like any other.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { serverCommand } from '../servers/start.ts'
import { processesOf } from '../services/processes.ts'
import { asked, between, codeOf, entry, faultOf, place, until } from './hub.ts'

const PLAIN = serverCommand('plain')

function plainYaml(): string {
  return `command: ${JSON.stringify(PLAIN.command)}\n      args: ${JSON.stringify(PLAIN.args)}`
}

/** Writes the seed's file into the project and opens a hub on it, as somebody who trusts it. */
async function teamOf(text: string, env: Readonly<Record<string, string>> = {}) {
  const { sandbox, open } = place()
  const file = join(sandbox.project, 'aicib.config.yaml')
  writeFileSync(file, text)
  const hub = await open(file, { trust: true, env: { ...sandbox.env(), ...env } })
  return { hub, sandbox }
}

test('[A0] with the master switch off nothing starts, nobody is told of anything, and calls say why', async () => {
  const { hub, sandbox } = await teamOf(`
integrations:
  enabled: false
  servers:
    plain:
      ${plainYaml()}
agents:
  ceo: { enabled: true, mcp_servers: [plain] }
  cto: { enabled: true, mcp_servers: [plain], workers: { reviewer: { mcp_servers: [plain] } } }
`)
  for (const agent of ['ceo', 'cto', 'cto/reviewer']) {
    const handle = hub.as(agent)
    await handle.ready()
    expect([handle.promptSection(), handle.tools()]).toEqual(['', []])
    expect((await faultOf(handle.call('plain/echo', { text: 'x' }))).message).toMatch(/integrations are off/i)
  }
  expect(processesOf(sandbox.root)).toEqual([])
})

test('[A3] at run time a server that lacks a variable is skipped with one warning, and the others work', async () => {
  const { hub, sandbox } = await teamOf(`
integrations:
  enabled: true
  servers:
    plain:
      ${plainYaml()}
    needy:
      ${plainYaml()}
      env: { TOKEN: "\${NEEDY_TOKEN}" }
  per_agent: { cto: [plain, needy] }
agents:
  cto: { enabled: true }
`)
  const cto = hub.as('cto')
  const { ready } = await cto.ready()
  expect(ready).toEqual(['plain'])
  const all = hub.servers.status()
  expect(all.map(({ name, status }) => [name, status])).toEqual([
    ['plain', 'connected'],
    ['needy', 'failed'],
  ])
  expect(hub.servers.get('needy').error).toMatch(/NEEDY_TOKEN/)
  expect((await faultOf(cto.call('needy/echo', { text: 'x' }))).message).toMatch(/NEEDY_TOKEN/)
  expect(cto.promptSection()).toContain('**plain**')
  expect(cto.promptSection()).not.toContain('needy')
  const told = await sandbox.run(['list', '--trust', '--config', 'aicib.config.yaml'])
  expect(told.stderr.split('\n').filter((line) => /^warning: .*NEEDY_TOKEN/.test(line))).toHaveLength(1)
})

test('[A3] a variable that is there reaches the process as it is; an empty one never does', async () => {
  const config = `
integrations:
  enabled: true
  servers:
    needy:
      ${plainYaml()}
      env: { TOKEN: "\${NEEDY_TOKEN}" }
  default_servers: [needy]
agents:
  cto: { enabled: true }
`
  const full = await teamOf(config, { NEEDY_TOKEN: 'a "quoted" value' })
  expect((await asked(full.hub, 'needy/env'))['TOKEN']).toBe('a "quoted" value')
  const empty = await teamOf(config, { NEEDY_TOKEN: '' })
  await empty.hub.as('cto').ready()
  expect(empty.hub.servers.get('needy').status).toBe('failed')
  expect(processesOf(empty.sandbox.root)).toEqual([])
})

test('[A14] Composio is connected with its key, offered to who may use it, and called like any other', async () => {
  const { url } = (await entry('http', 'plain', { era: 'legacy' })) as { url: string }
  const { url: seenAt, requests } = await between(url)
  const { hub } = await teamOf(
    `
integrations:
  enabled: true
  composio: { enabled: true, api_key: "\${COMPOSIO_API_KEY}", url: ${JSON.stringify(seenAt)} }
  per_agent: { cto: [composio] }
agents:
  cto: { enabled: true }
  cmo: { enabled: true }
`,
    { COMPOSIO_API_KEY: 'ck-0123456789' },
  )
  const cto = hub.as('cto')
  await cto.ready()
  expect(
    (await cto.call('composio/echo', { text: 'hi' }, { approvalWait: 0 }).catch((error) => error)).code,
  ).toBe('APPROVAL_PENDING')
  const [question] = await hub.approvals.list('pending')
  await hub.approvals.answer(String(question?.id), { decision: 'allow' }, 'a person')
  expect((await cto.call('composio/echo', { text: 'hi' })).text).toBe('hi')
  expect(await codeOf(hub.as('cmo').call('composio/echo', { text: 'hi' }))).not.toBe('APPROVAL_PENDING')
  expect(requests.length).toBeGreaterThan(2)
  for (const { headers } of requests) expect(headers['x-consumer-api-key']).toBe('ck-0123456789')
  expect(JSON.stringify(hub.servers.status())).not.toContain('ck-0123456789')
})

test('[D15] each row says what a call took, and so do the totals by agent, server and tool', async () => {
  const { open } = place()
  const hub = await open({
    servers: { plain: { ...PLAIN, price: { echo: 2 } } },
    agents: { cto: { servers: ['*'], approval: 'never' } },
  })
  const cto = hub.as('cto')
  await cto.call('plain/echo', { text: 'x' }, { conversation: 'c1' })
  await cto.call('plain/fail', {})
  await hub.flush()
  const rows = await hub.calls.list({})
  expect(rows.map(({ tool, outcome, conversation }) => [tool, outcome, conversation])).toEqual([
    ['fail', 'error', undefined],
    ['echo', 'ok', 'c1'],
  ])
  expect(rows[1]?.energy).toBeGreaterThanOrEqual(2)
  expect(rows[0]?.energy).toBeGreaterThan(0)
  const total = rows.reduce((sum, { energy = 0 }) => sum + energy, 0)
  for (const by of ['agent', 'server'] as const) {
    const [group] = await until(async () => await hub.calls.usage({ by }))
    expect(group).toMatchObject({ calls: 2, errors: 1 })
    expect(group?.energy).toBeCloseTo(total, 6)
  }
  const tools = await hub.calls.usage({ by: 'tool' })
  expect(tools.map(({ key, calls }) => [key, calls]).sort()).toEqual([
    ['plain/echo', 1],
    ['plain/fail', 1],
  ])
})
