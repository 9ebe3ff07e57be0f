import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ToolSearch } from './search.ts'

interface Corpus {
  readonly tools: readonly { server: string; name: string; description: string; parameters: string[] }[]
  readonly queries: readonly { query: string; wanted: string[]; held: boolean }[]
}

const { tools, queries }: Corpus = JSON.parse(
  readFileSync(new URL('../../test/fixtures/tools/corpus.json', import.meta.url), 'utf8'),
)
const search = new ToolSearch(tools.map((tool) => ({ ...tool, id: `${tool.server}:${tool.name}` })))

function recall(asked: Corpus['queries']): number {
  const met = asked.filter(({ query, wanted }) =>
    search.search(query, 5).some(({ id }) => wanted.includes(id)),
  )
  return met.length / asked.length
}

test('[C4] nine of ten queries over hundreds of tools find what is wanted among the first five', () => {
  expect(tools.length).toBeGreaterThanOrEqual(500)
  expect(queries.length).toBeGreaterThanOrEqual(150)
  expect(recall(queries)).toBeGreaterThanOrEqual(0.92)
  // Those that nobody looked at while the ranking was tuned.
  expect(recall(queries.filter(({ held }) => held))).toBeGreaterThanOrEqual(0.9)
})

test('a tool is found first by the words of its own name and server', () => {
  const first = tools.filter(({ server, name }) => {
    const [best] = search.search(`${server} ${name.replaceAll(/[_-]/g, ' ')}`, 1)
    return best?.id === `${server}:${name}`
  })
  expect(first.length / tools.length).toBeGreaterThanOrEqual(0.97)
})
