// One agent as written in a configuration file.

import * as z from 'zod/mini'
import { about, approvalPreset, glob, NAME, ratePerMinute, size, word } from './schema-values.ts'

const worker = z.strictObject({
  enabled: about('`false`: may use nothing.', z._default(z.boolean(), true)),
  model: about('Model of its own engine.', z.optional(z.string())),
  servers: about('Servers it may use; `*` is all of them.', z._default(z.array(z.string()), [])),
  allow: about('Tools it may use, as `server/tool` patterns; default: all.', z.optional(z.array(glob))),
  deny: about('Tools it may not use; goes before `allow`.', z._default(z.array(glob), [])),
})

const budget = z.strictObject({
  capacity: about('Most it can hold.', z._default(z.number().check(z.positive()), 100)),
  recovery: about('How fast it comes back, e.g. `10/min`.', z._default(ratePerMinute, 10)),
})

const results = z.strictObject({
  spill: about(
    'Text beyond this is kept in a file for `read_result`; `off`: never. Default: 100KB in `forModel()`, off in the gateway.',
    z.optional(z.union([z.literal('off'), size], { error: 'expected a size such as 100KB, or off' })),
  ),
})

export const agentSchema = z.extend(worker, {
  approval: about('When a person is asked; default: `defaults.approval`.', z.optional(approvalPreset)),
  approver: about(
    'Who is asked: the console, or the calling client (only where a person sits there).',
    z._default(z.enum(['console', 'client']), 'console'),
  ),
  energy: about(
    'Its budget of effort.',
    z.prefault(
      z.union([z.literal('unlimited'), budget], {
        error: 'expected unlimited, or a map with capacity and recovery',
      }),
      {},
    ),
  ),
  token: about('Its secret; write it as `${VAR}`. Only a hash is stored.', z.optional(word)),
  naming: about(
    'How tool names are written for its model.',
    z._default(z.enum(['mcp__s__t', 'mcp_s_t', 's__t', 's_t']), 'mcp__s__t'),
  ),
  surface: about(
    'What it is shown: all tools, or the tools by which it finds and calls them; `auto`: those above 40 tools.',
    z._default(z.enum(['full', 'search', 'auto']), 'auto'),
  ),
  accounts: about(
    'Which account it uses on a server, where the server has `accounts`.',
    z.optional(z.record(z.string().check(z.regex(NAME)), word)),
  ),
  results: about('What becomes of large results.', z.prefault(results, {})),
  workers: about(
    'Helpers under this agent with servers of their own.',
    z._default(z.record(z.string().check(z.regex(NAME)), worker), {}),
  ),
})

export type Agent = z.output<typeof agentSchema>
export type Worker = z.output<typeof worker>
