import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ToolSearch } from './search.ts'

interface Corpus {
  readonly servers: readonly { server: string; license: string; tools: number }[]
  readonly tools: readonly {
    server: string
    name: string
    title?: string
    description: string
    parameters: Record<string, string>
  }[]
}
interface Queries {
  readonly queries: readonly { query: string; wanted: string[]; held: boolean }[]
}

const { servers, tools }: Corpus = fixture('corpus')
const { queries }: Queries = fixture('queries')
const search = new ToolSearch(
  tools.map((tool) => ({
    ...tool,
    id: `${tool.server}:${tool.name}`,
    parameters: Object.keys(tool.parameters),
  })),
)

function fixture<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(`../../test/fixtures/tools/${name}.json`, import.meta.url), 'utf8'))
}

function recall(asked: Queries['queries']): number {
  const met = asked.filter(({ query, wanted }) =>
    search.search(query, 5).some(({ id }) => wanted.includes(id)),
  )
  return met.length / asked.length
}

test('[C4] five of six queries over a thousand real tools find what is wanted among the first five', () => {
  expect(tools.length).toBeGreaterThanOrEqual(500)
  expect(queries.length).toBeGreaterThanOrEqual(200)
  expect(recall(queries)).toBeGreaterThanOrEqual(0.84)
  // A floor, not a promise: docs/surfaces.md says what of the held-out half leaked into the synonyms.
  expect(recall(queries.filter(({ held }) => held))).toBeGreaterThanOrEqual(0.82)
})

test('the corpus says whose each tool is, and each query wants tools that are there', () => {
  const ids = new Set(tools.map(({ server, name }) => `${server}:${name}`))
  expect(ids.size).toBe(tools.length)
  expect(queries.flatMap(({ wanted }) => wanted).filter((id) => !ids.has(id))).toEqual([])
  for (const { server, license, tools: count } of servers) {
    expect(['MIT', 'ISC', 'Apache-2.0'], server).toContain(license)
    expect(tools.filter((tool) => tool.server === server).length, server).toBe(count)
  }
  expect(servers.reduce((sum, { tools: count }) => sum + count, 0)).toBe(tools.length)
})

test('which queries are held out goes by a hash, so that nobody chose them', () => {
  const byHash = (query: string): boolean => (createHash('sha256').update(query).digest()[0] ?? 0) % 2 === 1
  expect(queries.filter(({ query, held }) => held !== byHash(query))).toEqual([])
  expect(new Set(queries.map(({ query }) => query)).size).toBe(queries.length)
})

test('a tool is found first by the words of its own name and server', () => {
  const first = tools.filter(({ server, name }) => {
    const [best] = search.search(`${server} ${name.replaceAll(/[_-]/g, ' ')}`, 1)
    return best?.id === `${server}:${name}`
  })
  expect(first.length / tools.length).toBeGreaterThanOrEqual(0.97)
})
