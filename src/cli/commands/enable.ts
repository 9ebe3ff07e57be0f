// `busbar enable NAME`.

import { command } from '../command.ts'
import { switchNamed } from '../switch-server.ts'

export const spec = command({
  summary: 'switch a server on',
  words: '<name>',
  help: `
Example:
  busbar enable github`,
  run: async (session, [name = '']) => {
    await switchNamed(session, name, true)
  },
})
