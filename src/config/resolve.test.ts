import fc from 'fast-check'
import { expect, test } from 'vitest'
import { assignments, startsByItself } from './resolve.ts'
import { type Config, settingsSchema } from './schema.ts'
import { agentSchema } from './schema-agent.ts'
import { serverSchema } from './schema-server.ts'

interface Sketch {
  enabled?: boolean
  servers?: Record<string, object>
  agents?: Record<string, object>
  defaults?: string[]
}

function config(sketch: Sketch): Config {
  const settings = settingsSchema.parse({
    enabled: sketch.enabled ?? true,
    defaults: { servers: sketch.defaults ?? [] },
  })
  const entries = <T>(from: Record<string, object> | undefined, parse: (value: object) => T) =>
    Object.fromEntries(Object.entries(from ?? {}).map(([name, value]) => [name, parse(value)]))
  return {
    ...settings,
    servers: entries(sketch.servers, (value) => serverSchema.parse({ command: 'x', ...value })),
    agents: entries(sketch.agents, (value) => agentSchema.parse(value)),
  }
}

function resolve(sketch: Sketch) {
  const made = config(sketch)
  const configured = new Set(Object.keys(made.servers))
  const who = assignments(made, new Set([...configured, 'catalogued']), configured)
  return {
    servers: Object.fromEntries(who.map((it) => [it.id, it.servers])),
    unknown: Object.fromEntries(who.filter((it) => it.unknown.length > 0).map((it) => [it.id, it.unknown])),
    starts: [...startsByItself(made, who)].sort(),
  }
}

const two = { github: {}, linear: {} }

const cases: [string, Sketch, ReturnType<typeof resolve>][] = [
  [
    '[A2] an agent has the servers of its own list',
    { servers: two, agents: { cto: { servers: ['github'] } }, defaults: ['linear'] },
    { servers: { cto: ['github'] }, unknown: {}, starts: ['github'] },
  ],
  [
    '[A2] the default list is only for agents without one',
    { servers: two, agents: { cto: {}, ceo: { servers: ['github'] } }, defaults: ['linear'] },
    { servers: { cto: ['linear'], ceo: ['github'] }, unknown: {}, starts: ['github', 'linear'] },
  ],
  [
    '[A6] a disabled agent has nothing and starts nothing, nor do its workers',
    {
      servers: two,
      agents: { cto: { enabled: false, servers: ['github'], workers: { w: { servers: ['linear'] } } } },
    },
    { servers: { cto: [], 'cto/w': [] }, unknown: {}, starts: [] },
  ],
  [
    '[A1] a worker has its own list and inherits none',
    {
      servers: two,
      agents: { cto: { servers: ['github'], workers: { w: { servers: ['linear'] }, v: {} } } },
    },
    {
      servers: { cto: ['github'], 'cto/w': ['linear'], 'cto/v': [] },
      unknown: {},
      starts: ['github', 'linear'],
    },
  ],
  [
    '[A1] a disabled worker has nothing',
    {
      servers: two,
      agents: { cto: { servers: ['github'], workers: { w: { enabled: false, servers: ['linear'] } } } },
    },
    { servers: { cto: ['github'], 'cto/w': [] }, unknown: {}, starts: ['github'] },
  ],
  [
    '[A3] a name of the catalog resolves without an entry',
    { servers: two, agents: { cto: { servers: ['catalogued'] } } },
    { servers: { cto: ['catalogued'] }, unknown: {}, starts: ['catalogued'] },
  ],
  [
    '[A3] an unknown name is skipped and told',
    { servers: two, agents: { cto: { servers: ['githb', 'github'] } } },
    { servers: { cto: ['github'] }, unknown: { cto: ['githb'] }, starts: ['github'] },
  ],
  [
    '[A0] with the master switch off nobody has anything',
    { enabled: false, servers: two, agents: { cto: { servers: ['github'] } } },
    { servers: { cto: [] }, unknown: {}, starts: [] },
  ],
  [
    'a star is every configured server, and none of the catalog',
    { servers: two, agents: { cto: { servers: ['*'] } } },
    { servers: { cto: ['github', 'linear'] }, unknown: {}, starts: ['github', 'linear'] },
  ],
  [
    'a pattern is what it matches',
    { servers: { git: {}, github: {}, linear: {} }, agents: { cto: { servers: ['git*'] } } },
    { servers: { cto: ['git', 'github'] }, unknown: {}, starts: ['git', 'github'] },
  ],
  [
    'a server named twice is there once',
    { servers: two, agents: { cto: { servers: ['github', 'github', 'git*'] } } },
    { servers: { cto: ['github'] }, unknown: {}, starts: ['github'] },
  ],
  [
    'without agents every enabled server starts',
    { servers: { ...two, off: { enabled: false } } },
    { servers: {}, unknown: {}, starts: ['github', 'linear'] },
  ],
  [
    'a disabled or lazy server does not start by itself',
    { servers: { a: { enabled: false }, b: { start: 'lazy' }, c: {} }, agents: { cto: { servers: ['*'] } } },
    { servers: { cto: ['a', 'b', 'c'] }, unknown: {}, starts: ['c'] },
  ],
]
for (const [title, sketch, expected] of cases)
  test(title, () => {
    expect(resolve(sketch)).toEqual(expected)
  })

const name = fc.constantFrom('a', 'b', 'c', 'd', '*', 'x?', 'catalogued', 'missing')
const holder = fc.record(
  { enabled: fc.boolean(), servers: fc.array(name, { maxLength: 4 }) },
  { requiredKeys: [] },
)
const agent = fc
  .tuple(holder, fc.dictionary(fc.constantFrom('w', 'v'), holder))
  .map(([own, workers]) => ({ ...own, workers }))

test('[A6] whatever is configured, nothing starts that no enabled agent has, and lists hold only known names once', () => {
  const sketch = fc.record({
    enabled: fc.boolean(),
    servers: fc.dictionary(fc.constantFrom('a', 'b', 'xc'), fc.record({ enabled: fc.boolean() })),
    agents: fc.dictionary(fc.constantFrom('one', 'two'), agent),
    defaults: fc.array(name, { maxLength: 2 }),
  })
  fc.assert(
    fc.property(sketch, (made) => {
      const { servers, starts } = resolve(made)
      const held = new Set(Object.values(servers).flat())
      const known = new Set([...Object.keys(made.servers), 'catalogued'])
      for (const list of Object.values(servers)) {
        expect(new Set(list).size).toBe(list.length)
        for (const it of list) expect(known.has(it)).toBe(true)
      }
      if (Object.keys(servers).length > 0) for (const it of starts) expect(held.has(it)).toBe(true)
      if (!made.enabled) expect(starts).toEqual([])
      for (const [id, own] of Object.entries(made.agents))
        if (own.enabled === false) expect(servers[id]).toEqual([])
    }),
    { numRuns: 500 },
  )
})
