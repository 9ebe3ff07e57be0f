// Every cell of the grids below is one case: who asks, for what, and what the answer is.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { CATALOG } from '../config/catalog.ts'
import { assignments } from '../config/resolve.ts'
import { agentSchema } from '../config/schema-agent.ts'
import { type Server, serverSchema } from '../config/schema-server.ts'
import type { ServerEntry, Snapshot } from '../config/snapshot.ts'
import { actorOf, OWNER } from './access.ts'
import { covers, type Decision, decide, type Step } from './decide.ts'
import { Rulebook } from './facts.ts'

interface World {
  readonly enabled?: boolean
  readonly servers: Readonly<Record<string, object>>
  readonly agents: Readonly<Record<string, object>>
  readonly defaults?: { readonly servers?: string[]; readonly approval?: string }
  /** Servers that are switched off now. */
  readonly off?: readonly string[]
}

const READS = { readOnlyHint: true }
const DESTROYS = { destructiveHint: true }
/** What servers say of their tools. */
const SAID: Readonly<Record<string, object>> = {
  'github/get_issue': READS,
  'github/delete_repo': DESTROYS,
  'trusted/get_page': READS,
  'trusted/wipe': DESTROYS,
  'trusted/both': { ...READS, ...DESTROYS },
  'ruled/both': { ...READS, ...DESTROYS },
}

function bookOf({ enabled = true, servers, agents, defaults = {} }: World): {
  book: Rulebook
  ask: (agent: string | undefined, address: string, tell?: (step: Step) => void, listed?: boolean) => Decision
} {
  const definitions = Object.entries(servers).map(
    ([name, entry]) => [name, serverSchema.parse(entry)] as const,
  )
  const config = {
    enabled,
    servers: Object.fromEntries(definitions),
    agents: Object.fromEntries(
      Object.entries(agents).map(([name, entry]) => [name, agentSchema.parse(entry)]),
    ),
    defaults: { servers: [], approval: 'always', ...defaults },
  } as unknown as Snapshot['config']
  const names = new Set(definitions.map(([name]) => name))
  const who = assignments(config, names, names)
  const book = new Rulebook({
    config,
    assignments: who,
    servers: new Map(definitions.map(([name, definition]) => [name, entryOf(name, definition)])),
  })
  return {
    book,
    ask: (agent, address, tell, listed) => {
      const cut = address.indexOf('/')
      const native = address.startsWith('=')
      const server = cut < 0 ? address : address.slice(0, cut)
      return decide(
        {
          enabled: book.enabled,
          grants: book.grants(
            agent === undefined ? OWNER : actorOf(agent, { assignments: who, waiting: new Map() }),
          ),
          server: native ? 'native' : book.server(server),
          available: server !== 'switched',
          tool: native ? address.slice(1) : cut < 0 ? undefined : address.slice(cut + 1),
          listed,
          annotations: SAID[address] as Record<string, unknown> | undefined,
        },
        tell,
      )
    },
  }
}

function entryOf(name: string, definition: Server): ServerEntry {
  return { definition, catalog: CATALOG.find((it) => it.name === name) } as unknown as ServerEntry
}

const WORLD: World = {
  servers: {
    github: { command: 'server' },
    trusted: { command: 'server', trustAnnotations: true },
    ruled: {
      command: 'server',
      approval: { 'get_*': 'allow', 'merge_*': 'ask', 'drop_*': 'deny', '*_now': 'ask', get_secret: 'deny' },
    },
    quiet: { command: 'server', approval: 'never' },
    strict: { command: 'server', approval: 'always' },
    some: { command: 'server', tools: { include: ['get_*'], exclude: ['get_secret'] } },
    switched: { command: 'server' },
    notion: { command: 'npx', args: ['-y', '@notionhq/notion-mcp-server@1.2.3'] },
  },
  agents: {
    all: { servers: ['*'], approval: 'never' },
    asked: { servers: ['*'] },
    writer: { servers: ['*'], approval: 'writes' },
    careful: { servers: ['*'], approval: 'destructive' },
    one: { servers: ['github'], approval: 'never' },
    denied: { servers: ['*'], approval: 'never', deny: ['github/delete_*', 'trusted', '*/get_secret'] },
    allowed: { servers: ['*'], approval: 'never', allow: ['github/get_*', 'ruled/*', 'quiet'] },
    both: { servers: ['*'], approval: 'never', allow: ['github/*'], deny: ['github/delete_*'] },
    nothing: { approval: 'never' },
    empty: { servers: ['*'], approval: 'never', allow: [] },
    off: { enabled: false, servers: ['*'], approval: 'never' },
    boss: {
      servers: ['github'],
      approval: 'never',
      deny: ['github/delete_*'],
      workers: {
        helper: { servers: ['github', 'quiet'], allow: ['github/get_*', 'github/delete_*', 'quiet/*'] },
        idle: { enabled: false, servers: ['github'] },
      },
    },
  },
}

const AGENTS = [
  'all',
  'asked',
  'writer',
  'careful',
  'one',
  'denied',
  'allowed',
  'both',
  'nothing',
  'empty',
  'off',
]

/** One column for each agent above: a allow, ? ask, . deny. */
const GRID: readonly (readonly [string, string])[] = [
  //                        all asked writer careful one denied allowed both nothing empty off
  ['github', /*          */ 'aaaaaaaa.a.'],
  ['github/get_issue', /**/ 'a??aaaaa...'],
  ['github/create_issue', 'a??aaa.a...'],
  ['github/delete_repo', /**/ 'a???a......'],
  ['github/unheard_of', /**/ 'a??aaa.a...'],
  ['trusted', /*         */ 'aaaa.aaa.a.'],
  ['trusted/get_page', /**/ 'a?aa.......'],
  ['trusted/save', /*    */ 'a??a.......'],
  ['trusted/wipe', /*    */ 'a???.......'],
  ['trusted/both', /*    */ 'a?aa.......'],
  ['ruled/get_page', /*  */ 'aaaa.aa....'],
  ['ruled/get_secret', /**/ '...........'],
  ['ruled/merge_pr', /*  */ '????.??....'],
  ['ruled/drop_table', /**/ '...........'],
  ['ruled/drop_now', /*  */ '...........'],
  ['ruled/get_now', /*   */ '????.??....'],
  ['ruled/save', /*      */ 'a??a.aa....'],
  ['ruled/both', /*      */ 'a???.aa....'],
  ['quiet/save', /*      */ 'aaaa.aa....'],
  ['strict/save', /*     */ '????.?.....'],
  ['some/get_page', /*   */ 'a??a.a.....'],
  ['some/get_secret', /* */ '...........'],
  ['some/save', /*       */ '...........'],
  ['switched', /*        */ '...........'],
  ['switched/save', /*   */ '...........'],
  ['absent', /*          */ '...........'],
  ['absent/save', /*     */ '...........'],
  ['github/#resources/read', 'aaaaaaaa.a.'],
  ['github/#tools/list', /**/ 'aaaaaaaa.a.'],
  ['github/#strange/method', 'a??aaaaa.a.'],
  ['github/#tasks/update', 'aaaaaaaa.a.'],
  ['trusted/#resources/read', 'aaaa..aa.a.'],
  ['quiet/#strange/method', 'aaaa.aaa.a.'],
  ['=native_tool', /*    */ 'a??aaa..a..'],
]

const { ask } = bookOf(WORLD)
const LETTER = { allow: 'a', ask: '?', deny: '.' } as const

test('[B14] a tool that a server lists under the name of a request is judged as a tool', () => {
  const verdicts = (tool: string) =>
    AGENTS.map((agent) => ask(agent, `github/${tool}`, undefined, true).verdict)
  for (const name of ['#ping', '#tools/list', '#resources/read', '#instructions', '#strange/method'])
    expect([name, verdicts(name)]).toEqual([name, verdicts('unheard_of')])
})

for (const [address, expected] of GRID)
  AGENTS.forEach((agent, column) => {
    test(`[A5] ${agent} ${address}`, () => {
      expect(LETTER[ask(agent, address).verdict]).toBe(expected[column])
    })
  })

test('the grid has its two hundred cases', () => {
  expect(GRID.length * AGENTS.length).toBeGreaterThan(200)
  for (const [address, expected] of GRID) expect(expected.length, address).toBe(AGENTS.length)
})

test.each([
  ['boss', 'github/get_issue', 'allow'],
  ['boss', 'github/delete_repo', 'deny'],
  ['boss', 'quiet/save', 'deny'],
  ['boss/helper', 'github/get_issue', 'allow'],
  // What an agent may not, its workers may not either.
  ['boss/helper', 'github/delete_repo', 'deny'],
  ['boss/helper', 'github/create_issue', 'deny'],
  ['boss/helper', 'quiet/save', 'allow'],
  ['boss/idle', 'github/get_issue', 'deny'],
] as const)('[A5] %s %s: %s', (agent, address, verdict) => {
  expect(ask(agent, address).verdict).toBe(verdict)
})

test('the owner may everything there is, and is never asked', () => {
  for (const address of [
    'github/delete_repo',
    'ruled/drop_table',
    'strict/save',
    'quiet/#strange/method',
    '=any',
  ])
    expect(ask(undefined, address).verdict).toBe('allow')
  expect(ask(undefined, 'absent/save')).toMatchObject({ verdict: 'deny', code: 'SERVER_UNKNOWN' })
  expect(ask(undefined, 'switched/save')).toMatchObject({ verdict: 'deny', code: 'SERVER_UNAVAILABLE' })
  expect(ask(undefined, 'some/save')).toMatchObject({ verdict: 'deny', code: 'TOOL_UNKNOWN' })
})

test('[A0] the master switch goes before everybody, the owner too', () => {
  const world = bookOf({ ...WORLD, enabled: false })
  for (const agent of [undefined, ...AGENTS])
    expect(world.ask(agent, 'github/get_issue')).toMatchObject({ verdict: 'deny' })
})

test('defaults hold where an agent says nothing', () => {
  const world = bookOf({
    servers: WORLD.servers,
    agents: { plain: {}, own: { servers: ['quiet'] } },
    defaults: { servers: ['github'], approval: 'never' },
  })
  expect(world.ask('plain', 'github/create_issue').verdict).toBe('allow')
  expect(world.ask('plain', 'quiet/save').verdict).toBe('deny')
  expect(world.ask('own', 'github/create_issue').verdict).toBe('deny')
})

test('what the catalog was checked to only read is believed of what the catalog runs, and of nothing else', () => {
  const readOnly = CATALOG.find(({ name }) => name === 'notion')?.readOnlyTools[0]
  expect(readOnly).toBeDefined()
  const address = `notion/${readOnly}`
  const agents = { a: { servers: ['*'], approval: 'writes' } }
  const entry = CATALOG.find(({ name }) => name === 'notion')
  const args = entry?.args.map((word) => word.replace('@latest', '@9.9.9')) ?? []
  const genuine = bookOf({ servers: { notion: { command: entry?.command, args } }, agents })
  expect(genuine.ask('a', address).verdict).toBe('allow')
  const other = bookOf({ servers: { notion: { command: 'node', args } }, agents })
  expect(other.ask('a', address).verdict).toBe('ask')
  const more = bookOf({ servers: { notion: { command: entry?.command, args: [...args, 'x'] } }, agents })
  expect(more.ask('a', address).verdict).toBe('ask')
})

test('whoever may not learns nothing: one answer for what exists and what does not', () => {
  const reason = (address: string) => ask('one', address)
  expect(reason('quiet/save')).toEqual(reason('absent/save'))
  const denied = bookOf(WORLD).ask('denied', 'github/delete_nothing_at_all')
  expect(denied).toEqual(ask('denied', 'github/delete_repo'))
})

test('every decision is told in steps, and the last one is the one that decides', () => {
  for (const agent of AGENTS)
    for (const [address] of GRID) {
      const steps: Step[] = []
      const decision = ask(agent, address, (step) => steps.push(step))
      const denies = steps.filter(({ outcome }) => outcome === 'deny')
      expect(denies.length).toBe(decision.verdict === 'deny' ? 1 : 0)
      if (decision.verdict === 'deny') expect(steps.at(-1)?.detail).toBe(decision.reason)
      // Telling changes nothing.
      expect(ask(agent, address)).toEqual(decision)
    }
})

test('a rule more never allows more, and a grant more never denies more', () => {
  const pattern = fc.constantFrom(
    'github/*',
    'github/get_*',
    '*/save',
    'quiet',
    '*',
    'ruled/drop_*',
    'github/#*',
  )
  const address = fc.constantFrom(...GRID.map(([it]) => it))
  fc.assert(
    fc.property(fc.array(pattern), fc.array(pattern), pattern, address, (deny, allow, more, wanted) => {
      const verdict = (agent: object) =>
        bookOf({ servers: WORLD.servers, agents: { a: agent } }).ask('a', wanted).verdict
      const base = { servers: ['*'], approval: 'never', deny, allow }
      if (verdict(base) === 'deny') expect(verdict({ ...base, deny: [...deny, more] })).toBe('deny')
      if (verdict(base) !== 'deny') expect(verdict({ ...base, allow: [...allow, more] })).not.toBe('deny')
    }),
    { numRuns: 300 },
  )
})

test.each([
  ['github/*', 'github', 'x', true],
  ['github', 'github', 'x', true],
  ['git*', 'github', 'x', true],
  ['github/x', 'github', 'xy', false],
  ['*/x', 'github', 'x', true],
  ['github/*', 'github', '#resources/read', true],
  ['github/get_*', 'github', '#resources/read', false],
  ['github/#resources/*', 'github', '#resources/read', true],
  ['read_file', '', 'read_file', true],
  ['read_*', '', 'read_file', true],
  ['*/*', '', 'read_file', false],
])('%s covers %s/%s: %s', (pattern, server, tool, expected) => {
  expect(covers(pattern, server, tool)).toBe(expected)
})
