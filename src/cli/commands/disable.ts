// `busbar disable NAME`.

import { command } from '../command.ts'
import { switchNamed } from '../switch-server.ts'

export const spec = command({
  summary: 'switch a server off',
  words: '<name>',
  help: `
Example:
  busbar disable github`,
  run: async (session, [name = '']) => {
    await switchNamed(session, name, false)
  },
})
