// `busbar remove NAME`.

import { command } from '../command.ts'
import { SCOPE_OPTION, writeScope } from '../edit.ts'
import { removeNamed } from '../remove-server.ts'

export const spec = command({
  summary: 'remove a server and every mention of it',
  words: '<name>',
  options: { scope: { ...SCOPE_OPTION, about: 'project, user or local, where several define it' } },
  help: `
Takes the definition away, and the name out of every agent's, worker's and default list.
A deny pattern stays, so that a server of that name cannot come back with more rights.

Examples:
  busbar remove github
  busbar remove github -s user`,
  run: async (session, [name = ''], { scope }) => {
    await removeNamed(session, name, scope === undefined ? undefined : writeScope(scope))
  },
})
