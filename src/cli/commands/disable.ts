// `busbar disable NAME`.

import type { Define } from '../commands.ts'
import { switchNamed } from '../switch-server.ts'

export const define: Define = (command, session) => {
  command
    .argument('<name>', 'the server')
    .addHelpText('after', '\nExample:\n  busbar disable github')
    .action(async (name: string) => {
      await switchNamed(session(), name, false)
    })
}
