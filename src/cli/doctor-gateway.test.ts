import { expect, test } from 'vitest'
import { Fault } from '../base/fault.ts'
import { checkNode } from '../config/doctor.ts'
import { type ClientFact, examineClients } from './doctor-clients.ts'
import { type GatewayFacts, proxyInTheWay } from './doctor-facts.ts'
import { examineGateway } from './doctor-gateway.ts'
import { slowness } from './doctor-start.ts'

const NOW = Date.UTC(2026, 10, 16)
const URL = 'http://127.0.0.1:4747'
const CURSOR: ClientFact = {
  id: 'cursor',
  title: 'Cursor',
  file: '/home/ada/.cursor/mcp.json',
  scope: 'user',
  way: 'http',
  url: `${URL}/mcp`,
  token: 'opens',
  agent: 'cursor',
  open: false,
}
const DESKTOP: ClientFact = {
  id: 'claude-desktop',
  title: 'Claude Desktop',
  file: '/home/ada/.config/Claude/claude_desktop_config.json',
  scope: 'user',
  way: 'stdio',
  token: 'opens',
  agent: 'cto',
  open: false,
}

/** A home in which nothing is wrong. */
const WELL: GatewayFacts = {
  now: NOW,
  released: NOW - 1000,
  newest: NOW,
  version: '1.0.0',
  running: { version: '1.0.0', config: 'digest', url: URL },
  address: URL,
  portTaken: false,
  digest: 'digest',
  valid: true,
  changedSettings: [],
  clients: [CURSOR, DESKTOP],
  unreadable: [],
  agents: [
    { name: 'cursor', enabled: true, servers: 1, token: true, full: true, tools: 40 },
    { name: 'cto', enabled: true, servers: 2, token: true, full: false, tools: 3 },
    { name: 'off', enabled: false, servers: 0, token: false, full: false },
  ],
  servers: [],
  approvals: 0,
  empty: [],
  changed: [],
}

function wrongIn(changes: Partial<GatewayFacts>, without: readonly (keyof GatewayFacts)[] = []) {
  const facts = { ...WELL, ...changes }
  for (const key of without) delete (facts as Partial<Record<keyof GatewayFacts, unknown>>)[key]
  return [...examineClients(facts), ...examineGateway(facts)].filter(({ severity }) => severity !== 'ok')
}

const agents = (changes: Partial<GatewayFacts['agents'][number]>): Partial<GatewayFacts> => ({
  agents: WELL.agents.map((it) => (it.name === 'cursor' ? { ...it, ...changes } : it)),
})
const cursor = (changes: Partial<ClientFact>): Partial<GatewayFacts> => ({
  clients: [{ ...CURSOR, ...changes }],
})
const desktop = (changes: Partial<ClientFact>): Partial<GatewayFacts> => ({
  clients: [{ ...DESKTOP, ...changes }],
})
const ABSENT = ['running'] as const

test('[C11] where nothing is wrong, doctor says nothing but that', () => {
  expect(wrongIn({})).toEqual([])
  expect(wrongIn({ clients: [] }, ABSENT)).toEqual([])
  expect(wrongIn({ clients: [DESKTOP] }, ABSENT)).toEqual([])
})

const PROBLEMS: readonly [
  check: string,
  severity: 'error' | 'warning',
  changes: Partial<GatewayFacts>,
  message: string,
  fix: string,
  without?: readonly (keyof GatewayFacts)[],
][] = [
  ['gateway', 'error', {}, 'no gateway is running, and these clients want one: Cursor', 'busbar up', ABSENT],
  [
    'client-address',
    'error',
    cursor({ url: 'http://127.0.0.1:5000/mcp', agent: 'cto' }),
    'goes to',
    'busbar connect cursor --agent cto',
  ],
  [
    'client-token',
    'error',
    cursor({ token: 'revoked' }),
    'was revoked',
    'busbar connect cursor --agent cursor',
  ],
  ['client-token', 'error', cursor({ token: 'expired' }), 'has expired', 'busbar connect cursor'],
  ['client-token', 'error', cursor({ token: 'unknown' }), 'another home', 'busbar connect cursor'],
  ['client-token', 'error', cursor({ token: 'none' }), 'is missing', 'busbar connect cursor'],
  [
    'client-token',
    'error',
    cursor({ token: 'revoked', scope: 'project' }),
    'was revoked',
    'busbar connect cursor --scope project --agent cursor',
  ],
  ['client-agent', 'error', agents({ enabled: false }), 'switched off', 'busbar agents enable cursor'],
  [
    'client-agent',
    'error',
    cursor({ agent: 'gone' }),
    'no agent of this configuration is called so',
    'busbar agents add gone',
  ],
  [
    'client-program',
    'error',
    desktop({ missing: '/gone/bin.js' }),
    '/gone/bin.js',
    'busbar connect claude-desktop --agent cto --stdio',
  ],
  [
    'client-agent',
    'error',
    agents({ untrusted: '/p/busbar.yaml' }),
    'stands in /p/busbar.yaml, which is not trusted yet',
    'busbar trust',
  ],
  [
    'agent-trust',
    'warning',
    { ...agents({ untrusted: '/p/busbar.yaml' }), clients: [DESKTOP] },
    'nobody can act as it',
    'busbar trust',
  ],
  [
    'client-agent',
    'warning',
    agents({ untrusted: '/p/busbar.yaml', served: true }),
    'stands in /p/busbar.yaml, which was edited and is not trusted as it is now; until then the gateway serves it',
    'busbar trust',
  ],
  [
    'agent-trust',
    'warning',
    { ...agents({ untrusted: '/p/busbar.yaml', served: true }), clients: [DESKTOP] },
    'until then the gateway serves it as it was trusted last',
    'busbar trust',
  ],
  [
    'gateway-config',
    'warning',
    { digest: 'other', changedSettings: ['/p/busbar.yaml'] },
    'what was trusted last, because this is not trusted as it is now: /p/busbar.yaml',
    'busbar trust',
  ],
  ['client-home', 'warning', desktop({ otherHome: '/srv/other' }), '/srv/other', 'BUSBAR_HOME'],
  ['client-mode', 'warning', cursor({ open: true }), 'read by other users', 'chmod 600'],
  [
    'client-file',
    'warning',
    { unreadable: [new Fault('CONFIG_EDIT', '/a.json:1:2: expected a value')] },
    '/a.json:1:2',
    'by hand',
  ],
  ['store', 'error', { store: new Fault('STORE_NEWER', 'newer', { hint: 'go back' }) }, 'newer', 'go back'],
  ['clock', 'warning', { newest: NOW + 3_600_000 }, 'files of this home are from', 'set the clock'],
  ['clock', 'warning', { now: NOW - 86_400_000 }, 'before this Busbar was made', 'set the clock'],
  [
    'homes',
    'warning',
    { clients: [], otherHome: { home: '/srv/b/state', variable: '/srv/b' } },
    '/srv/b/state',
    'export BUSBAR_HOME=/srv/b',
    ABSENT,
  ],
  [
    'homes',
    'warning',
    { clients: [], otherHome: { home: '/home/ada/.local/state/busbar' } },
    'another home',
    'unset BUSBAR_HOME',
    ABSENT,
  ],
  ['port', 'warning', { clients: [], portTaken: true }, 'something else listens', 'gateway.port', ABSENT],
  [
    'exposure',
    'error',
    { exposure: new Fault('CONFIG_INVALID', '0.0.0.0 can be reached', { hint: 'allowedHosts' }) },
    '0.0.0.0',
    'allowedHosts',
  ],
  ['proxy', 'warning', { proxy: 'HTTP_PROXY' }, 'HTTP_PROXY is set', 'NO_PROXY'],
  [
    'gateway-version',
    'warning',
    { running: { version: '0.9.0', config: 'digest', url: URL } },
    '0.9.0',
    'start it anew',
  ],
  ['gateway-config', 'warning', { digest: 'another' }, 'another configuration', 'from here: busbar up'],
  ['gateway-config', 'warning', { valid: false }, 'the last good one', 'busbar config check'],
  [
    'gateway-server',
    'error',
    { servers: [{ name: 'db', status: 'failed', error: 'db ended with code 3', fault: 'CONNECTION_LOST' }] },
    'code 3',
    'busbar restart db',
  ],
  [
    'gateway-server',
    'warning',
    { servers: [{ name: 'mail', status: 'needs-auth', hint: 'run: busbar login mail' }] },
    'sign in',
    'busbar login mail',
  ],
  ['agent-token', 'warning', agents({ token: false }), 'has no token', 'busbar agents token cursor'],
  ['agent-servers', 'warning', agents({ servers: 0, tools: 0 }), 'no server', 'busbar agents grant cursor'],
  [
    'agent-tools',
    'warning',
    agents({ tools: 0, reason: 'cursor has no tools: db is disabled' }),
    'db is disabled',
    'busbar explain cursor',
  ],
  ['tool-count', 'warning', agents({ tools: 41 }), '41 tools', 'busbar agents revoke cursor'],
  ['approvals', 'warning', { approvals: 2 }, '2 calls wait', 'busbar approve'],
  ['approvals', 'warning', { approvals: 1 }, 'a call waits', 'busbar approve'],
  ['energy', 'warning', { empty: ['cto'] }, 'cto has no energy', 'busbar energy refill cto'],
  ['pins', 'warning', { changed: ['a/b', 'c/d'] }, 'a/b, c/d', 'busbar pins diff a/b'],
]

for (const [check, severity, changes, message, fix, without] of PROBLEMS)
  test(`[C11] doctor finds ${check}: ${message}`, () => {
    const found = wrongIn(changes, without)
    expect(found.map((it) => it.check)).toEqual([check])
    expect(found[0]).toMatchObject({ severity, check })
    expect(found[0]?.message).toContain(message)
    expect(found[0]?.fix).toContain(fix)
  })

test('many tools that are found by words are not too many', () => {
  expect(wrongIn(agents({ tools: 500, full: false }))).toEqual([])
})

test('without a gateway, an entry that differs from the configuration is only a warning; loopback has many names', () => {
  const other = wrongIn({ clients: [CURSOR], address: 'http://127.0.0.1:5000' }, ABSENT)
  expect(other.map(({ check, severity }) => [check, severity])).toEqual([
    ['client-address', 'warning'],
    ['gateway', 'error'],
  ])
  for (const host of ['localhost', '[::1]'])
    expect(wrongIn(cursor({ url: `http://${host}:4747/mcp` }))).toEqual([])
})

test('what could not be looked up, or is another home’s to know, is not called wrong', () => {
  expect(wrongIn(cursor({ token: 'unchecked' }))).toEqual([])
  const elsewhere = wrongIn(desktop({ token: 'unknown', otherHome: '/srv/other' }))
  expect(elsewhere.map(({ check }) => check)).toEqual(['client-home'])
})

test('a proxy is in the way unless loopback by its number is excepted from it', () => {
  const proxy = 'http://proxy:3128'
  expect(proxyInTheWay({})).toBeUndefined()
  expect(proxyInTheWay({ HTTPS_PROXY: proxy })).toBeUndefined()
  expect(proxyInTheWay({ http_proxy: proxy })).toBe('http_proxy')
  expect(proxyInTheWay({ ALL_PROXY: proxy, NO_PROXY: 'localhost' })).toBe('ALL_PROXY')
  for (const excepted of ['127.0.0.1', 'localhost, 127.0.0.1', '*', '127.0.0.0/8', '127.*'])
    expect(proxyInTheWay({ HTTP_PROXY: proxy, no_proxy: excepted })).toBeUndefined()
})

test('Node is new enough from 20.19 on', () => {
  expect(checkNode('20.19.0').severity).toBe('ok')
  expect(checkNode('22.1.0').severity).toBe('ok')
  expect(checkNode('20.18.3')).toMatchObject({ severity: 'error', fix: expect.stringContaining('20.19') })
  expect(checkNode('18.20.0').severity).toBe('error')
})

test('a server that needs more than half of its deadline to start is slow; one that failed is something else', () => {
  const plan = { deadline: 10_000 }
  expect(slowness('db', { ms: 5_000, fault: undefined }, plan)).toEqual([])
  expect(slowness('db', { ms: 5_001, fault: undefined }, plan)).toMatchObject([
    {
      severity: 'warning',
      check: 'slow',
      server: 'db',
      message: 'db took 5.0 s to start, of 10.0 s that it has',
    },
  ])
  expect(slowness('db', { ms: 9_000, fault: new Fault('CONNECT_TIMEOUT', 'late') }, plan)).toEqual([])
})
