// `busbar resources [SERVER]`: what servers have to read.

import { command } from '../command.ts'
import { listThings, said } from '../list-things.ts'

export const spec = command({
  summary: 'list resources',
  words: '[server]',
  options: {
    templates: { about: 'the templates of addresses instead' },
    agent: { value: 'name', about: 'only what this agent may use' },
  },
  help: `
Asks the running gateway where it follows the same configuration; else the servers are started for this, and ended again.
Read one with: busbar read SERVER URI

Examples:
  busbar resources
  busbar resources docs --templates
  busbar resources docs --json`,
  run: async (session, [server], { templates, agent }) =>
    await listThings(session, {
      command: 'resources',
      kind: templates ? 'resourceTemplates' : 'resources',
      capability: 'resources',
      server,
      agent,
      headings: ['SERVER', 'URI', 'TYPE', 'NAME'],
      row: (item) => [
        item.server,
        said(item, 'uri', 'uriTemplate'),
        said(item, 'mimeType'),
        said(item, 'title', 'name', 'description'),
      ],
    }),
})
