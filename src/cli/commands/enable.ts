// `busbar enable NAME`.

import { command } from '../command.ts'
import { switchNamed } from '../switch-server.ts'

export const spec = command({
  summary: 'switch a server on',
  words: '<name>',
  help: `
Where a gateway runs that follows the same configuration, a server that was switched off or hidden there alone, through its
API, is on there again, too.

Example:
  busbar enable github`,
  run: async (session, [name = '']) => {
    await switchNamed(session, name, true)
  },
})
