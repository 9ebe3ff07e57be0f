// What a call costs a program that uses the library, beside a bare client; each in a process of its own.
import { fileURLToPath } from 'node:url'

const WORKER = fileURLToPath(new URL('../workers/library.mjs', import.meta.url))
const NAMES = { raw: 'bare client', hub: 'Busbar' }

export const library = {
  name: 'library',
  about: 'calls of a program that uses the library; processor time of that program',
  columns: [
    { key: 'small', title: 'CPU µs/call, 100 B, 32 at once', compare: 'ratio' },
    { key: 'large', title: 'CPU ms/call, 4 MiB', compare: 'ratio' },
    { key: 'first', title: 'first answer ms', compare: 'difference' },
  ],
  *round(stage, { calls }) {
    for (const wire of ['stdio', 'http'])
      for (const kind of ['raw', 'hub'])
        yield {
          group: `${wire} server`,
          name: NAMES[kind],
          values: () => stage.ask(process.execPath, [WORKER, kind, wire, String(calls), stage.folder()]),
        }
  },
}
