// `busbar remove NAME`.

import type { Define } from '../commands.ts'
import { writeScope, type WriteScope } from '../edit.ts'
import { removeNamed } from '../remove-server.ts'

export const define: Define = (command, session) => {
  command
    .argument('<name>', 'the server')
    .option('-s, --scope <scope>', 'project, user or local, where several define it', writeScope)
    .addHelpText(
      'after',
      `
Takes the definition away, and the name out of every agent's, worker's and default list.
A deny pattern stays, so that a server of that name cannot come back with more rights.

Examples:
  busbar remove github
  busbar remove github -s user`,
    )
    .action(async (name: string, options: { scope?: WriteScope }) => {
      await removeNamed(session(), name, options.scope)
    })
}
