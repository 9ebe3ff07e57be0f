// `busbar import`: finds the servers other tools know on this machine, shows them, and writes them on a yes.

import { command } from '../command.ts'
import { SCOPE_OPTION } from '../edit.ts'
import { importServers } from '../import-servers.ts'

export const spec = command({
  summary: 'take over servers from other tools',
  words: '[client|file]',
  options: {
    'dry-run': { about: 'show what would be taken over, write nothing' },
    yes: { short: 'y', about: 'write without being asked' },
    scope: { ...SCOPE_OPTION, about: 'project, user or local; default: where it was found' },
    force: { about: 'replace servers of the same name' },
  },
  help: `
Clients: claude-code, claude-desktop, cursor, vscode, windsurf, cline, roo, zed, codex, gemini, opencode, goose,
copilot, librechat, shared.

Examples:
  busbar import --dry-run
  busbar import cursor
  busbar import ./team/mcp.json --yes -s project`,
  run: async (session, [what], options) => await importServers(session, what, options),
})
