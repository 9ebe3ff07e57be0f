// What recording a call costs: its share in the gateway's cost of a call.
import { fileURLToPath } from 'node:url'

const WORKER = fileURLToPath(new URL('../workers/record.mjs', import.meta.url))
const WAYS = {
  append: 'rows alone, 100 at once',
  together: 'journal and row, 32 calls at a time',
  alone: 'journal and row, one call at a time',
}

export const record = {
  name: 'record',
  about: 'recording a call, until its row is in the store',
  columns: [
    { key: 'cost', title: 'CPU µs/call' },
    { key: 'wall', title: 'µs/call' },
  ],
  *round(stage, { calls }) {
    for (const [way, name] of Object.entries(WAYS))
      yield {
        group: 'SQLite',
        name,
        values: () => stage.ask(process.execPath, [WORKER, way, String(calls * 10), stage.folder()]),
      }
  },
}
