// How long it takes to index 10,000 tools and to search them. Run: node bench/tool-search.mjs

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'

const folder = await mkdtemp(join(tmpdir(), 'busbar-bench-'))
try {
  const bundle = await rolldown({ input: 'src/registry/search.ts', platform: 'node' })
  const file = join(folder, 'search.mjs')
  await bundle.write({ file })
  await bundle.close()
  const { ToolSearch } = await import(pathToFileURL(file).href)
  measure(ToolSearch)
} finally {
  await rm(folder, { recursive: true })
}

function measure(ToolSearch) {
  const tools = Array.from({ length: 10_000 }, (_, index) => tool(index))
  const builds = [1, 2, 3].map(() => timed(() => new ToolSearch(tools)))
  const search = new ToolSearch(tools)
  const queries = [
    'create an issue on github',
    'list',
    'read file contents',
    'delete the customer record and send a message',
    'update database tabl',
    'kuberntes',
    'create read update delete list search get send customer invoice file message channel branch',
  ]
  for (const query of queries) for (let round = 0; round < 50; round++) search.search(query)
  console.log(`index of 10,000 tools: ${Math.min(...builds).toFixed(0)} ms (best of 3)`)
  for (const query of queries) {
    const times = Array.from({ length: 200 }, () => timed(() => search.search(query))).sort((a, b) => a - b)
    console.log(`${times[100].toFixed(2)} ms median, ${times[190].toFixed(2)} ms 95th: ${query.slice(0, 60)}`)
  }
}

function timed(work) {
  const start = performance.now()
  work()
  return performance.now() - start
}

function tool(index) {
  const verbs = ['create', 'list', 'get', 'update', 'delete', 'search', 'send', 'read', 'merge', 'archive']
  const nouns = [
    'issue',
    'file',
    'customer',
    'invoice',
    'message',
    'channel',
    'branch',
    'pod',
    'table',
    'event',
  ]
  const verb = verbs[index % verbs.length]
  const noun = nouns[Math.floor(index / 10) % nouns.length]
  const other = nouns[Math.floor(index / 37) % nouns.length]
  return {
    id: `server${index % 200}:${verb}_${noun}_${index}`,
    server: index % 3 === 0 ? 'github' : `server${index % 200}`,
    name: `${verb}_${noun}_${index}`,
    title: `${verb} a ${noun}`,
    description: `${verb}s the ${noun} of a ${other} in the workspace, with pagination and an optional filter by word${index}. Returns the ${noun} as JSON. Use this when the user wants to ${verb} something in the kubernetes database.`,
    parameters: [`${noun}_id`, `${other}_name`, 'limit', 'cursor'],
  }
}
