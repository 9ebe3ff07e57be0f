// `busbar connect`: writes Busbar into a client's own configuration, and takes it out again.

import { Fault } from '../../base/fault.ts'
import { command } from '../command.ts'
import { connectClient } from '../connect-client.ts'
import { listClients } from '../connect-list.ts'
import { undoClient } from '../connect-undo.ts'

export const spec = command({
  summary: 'write Busbar into the configuration of a client, or take it out again',
  words: '[client]',
  options: {
    agent: { value: 'name', about: 'the agent it acts as; default: one by the name of the client' },
    servers: { value: 'a,b', about: 'servers of an agent that is made for it; "*" is all' },
    scope: { short: 's', value: 'scope', about: 'user (default) or project: which of its files' },
    stdio: { about: 'let it start "busbar serve --stdio" instead of coming by HTTP' },
    'dry-run': { about: 'show what would be written, write nothing' },
    undo: { about: 'take it back, and revoke its token' },
    yes: { short: 'y', about: 'write without being asked' },
  },
  help: `
Clients: claude-code, claude-desktop, cursor, vscode, windsurf, zed, codex, gemini, opencode, goose.
Without a client: which of them are here, and which are connected.

One entry called "busbar" is written into the client's own file; every other byte of it stays, and a copy of the file as it
was is kept for --undo. The token in it is made for this client alone and is shown nowhere.

Examples:
  busbar connect
  busbar connect claude-code
  busbar connect cursor --agent cto --dry-run
  busbar connect codex --servers github,linear --yes
  busbar connect codex --undo`,
  run: async (session, [client], options) => {
    if (client === undefined) {
      if (options.undo) throw new Fault('USAGE', '--undo of which client?', { hint: 'see: busbar connect' })
      await listClients(session)
    } else if (options.undo) await undoClient(session, client, options)
    else await connectClient(session, client, options)
  },
})
