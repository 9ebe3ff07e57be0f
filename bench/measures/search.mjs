// How long it takes to index 10,000 tools and to search them by words.
import { fileURLToPath } from 'node:url'

const WORKER = fileURLToPath(new URL('../workers/search.mjs', import.meta.url))

export const search = {
  name: 'search',
  about: 'the index of 10,000 tools, and a search in it (median of seven questions)',
  columns: [
    { key: 'index', title: 'index ms' },
    { key: 'search', title: 'search ms' },
  ],
  *round(stage) {
    yield {
      group: 'registry',
      name: 'Busbar',
      values: () => stage.ask(process.execPath, [WORKER, stage.folder()]),
    }
  },
}
