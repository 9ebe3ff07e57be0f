// `busbar disable NAME`.

import { command } from '../command.ts'
import { switchNamed } from '../switch-server.ts'

export const spec = command({
  summary: 'switch a server off',
  words: '<name>',
  help: `
Where a gateway runs that follows the same configuration, a server that was switched on there alone, through its API, is off
there again, too.

Example:
  busbar disable github`,
  run: async (session, [name = '']) => {
    await switchNamed(session, name, false)
  },
})
