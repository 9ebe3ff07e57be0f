// Indexes 10,000 tools and searches them; prints milliseconds.
//   node search.mjs FOLDER
import { median } from '../load.mjs'
import { fromSources } from './sources.mjs'

const VERBS = ['create', 'list', 'get', 'update', 'delete', 'search', 'send', 'read', 'merge', 'archive']
const NOUNS = [
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
const QUESTIONS = [
  'create an issue on github',
  'list',
  'read file contents',
  'delete the customer record and send a message',
  'update database tabl',
  'kuberntes',
  'create read update delete list search get send customer invoice file message channel branch',
]

const { ToolSearch } = await fromSources(process.argv[2], { ToolSearch: 'registry/search.ts' })
const tools = Array.from({ length: 10_000 }, (_, index) => tool(index))
const index = Math.min(...[1, 2, 3].map(() => timed(() => new ToolSearch(tools))))
const search = new ToolSearch(tools)
for (const question of QUESTIONS) for (let round = 0; round < 50; round++) search.search(question)
const times = QUESTIONS.map((question) =>
  median(Array.from({ length: 100 }, () => timed(() => search.search(question)))),
)
console.log(JSON.stringify({ index, search: median(times) }))

function timed(work) {
  const start = performance.now()
  work()
  return performance.now() - start
}

function tool(number) {
  const verb = VERBS[number % VERBS.length]
  const noun = NOUNS[Math.floor(number / 10) % NOUNS.length]
  const other = NOUNS[Math.floor(number / 37) % NOUNS.length]
  return {
    id: `server${number % 200}:${verb}_${noun}_${number}`,
    server: number % 3 === 0 ? 'github' : `server${number % 200}`,
    name: `${verb}_${noun}_${number}`,
    title: `${verb} a ${noun}`,
    description: `${verb}s the ${noun} of a ${other} in the workspace, with pagination and an optional filter by word${number}. Returns the ${noun} as JSON. Use this when the user wants to ${verb} something in the kubernetes database.`,
    parameters: [`${noun}_id`, `${other}_name`, 'limit', 'cursor'],
  }
}
