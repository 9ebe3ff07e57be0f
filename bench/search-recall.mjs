// How often one of the wanted tools is among the first that the search finds, over the corpus in
// test/fixtures/tools. Run: node bench/search-recall.mjs [--misses]

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fromSources } from './workers/sources.mjs'

const fixture = (name) => JSON.parse(readFileSync(`test/fixtures/tools/${name}.json`, 'utf8'))
const { tools, servers } = fixture('corpus')
const { queries } = fixture('queries')
const folder = mkdtempSync(join(tmpdir(), 'busbar-bench-'))
const { ToolSearch } = await fromSources(folder, { ToolSearch: 'registry/search.ts' })
rmSync(folder, { recursive: true })
const search = new ToolSearch(
  tools.map((tool) => ({
    ...tool,
    id: `${tool.server}:${tool.name}`,
    parameters: Object.keys(tool.parameters),
  })),
)

const rankOf = ({ query, wanted }) =>
  search.search(query, 20).findIndex(({ id }) => wanted.includes(id)) + 1 || Number.POSITIVE_INFINITY
const asked = queries.map((one) => ({ ...one, rank: rankOf(one) }))

console.log(`${tools.length} tools of ${servers.length} servers, ${queries.length} queries`)
for (const [name, set] of [
  ['tuned with', asked.filter(({ held }) => !held)],
  ['held out', asked.filter(({ held }) => held)],
  ['all', asked],
]) {
  const within = (most) => (set.filter(({ rank }) => rank <= most).length / set.length).toFixed(3)
  console.log(`${name.padEnd(10)} recall at 1: ${within(1)}  at 5: ${within(5)}  at 10: ${within(10)}`)
}
if (process.argv.includes('--misses'))
  for (const { query, wanted, rank } of asked.filter(({ rank, held }) => rank > 5 && !held)) {
    const found = search.search(query, 5).map(({ id, score }) => `${id} ${score.toFixed(1)}`)
    console.log(`\n${query} → ${wanted.join(' ')} (${rank})\n  ${found.join('\n  ')}`)
  }
