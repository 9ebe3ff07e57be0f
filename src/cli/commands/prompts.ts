// `busbar prompts [SERVER]`: the prompts that servers offer.

import { isRecord } from '../../base/record.ts'
import { command } from '../command.ts'
import { listThings, said } from '../list-things.ts'

export const spec = command({
  summary: 'list prompts',
  words: '[server]',
  options: { agent: { value: 'name', about: 'only what this agent may use' } },
  help: `
Asks the running gateway where it follows the same configuration; else the servers are started for this, and ended again.

Examples:
  busbar prompts
  busbar prompts docs --json`,
  run: async (session, [server], { agent }) =>
    await listThings(session, {
      command: 'prompts',
      kind: 'prompts',
      capability: 'prompts',
      server,
      agent,
      headings: ['SERVER', 'PROMPT', 'ARGUMENTS', 'DESCRIPTION'],
      row: (item) => [
        item.server,
        said(item, 'name'),
        argumentNames(item['arguments']),
        said(item, 'description', 'title'),
      ],
    }),
})

// --- internal ---

/** `topic [style]`: what must and what may be given. */
function argumentNames(given: unknown): string {
  const all = Array.isArray(given) ? given.filter(isRecord) : []
  return all.map(({ name, required }) => (required === true ? String(name) : `[${name}]`)).join(' ') || '-'
}
