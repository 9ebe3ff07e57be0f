// The built-in agent as written in a configuration file: in whose name it acts, which models it has, what it may spend.

import * as z from 'zod/mini'
import { about, word } from './schema-values.ts'

const amount = z.number().check(z.nonnegative())

const price = z.strictObject({
  input: about('Energy for 1000 tokens that it reads.', amount),
  output: about('Energy for 1000 tokens that it writes.', amount),
})

const model = z.strictObject({
  provider: about('Whose API is spoken.', z.optional(z.enum(['anthropic', 'openai', 'scripted']))),
  name: about('The model.', z.optional(word)),
  baseUrl: about('Endpoint, for any compatible server.', z.optional(word)),
  key: about('API key; write it as `${VAR}`.', z.optional(word)),
  price: about(
    'What it takes; default: 0.2 and 1, and a quarter of that for the cheap one.',
    z.optional(price),
  ),
})

const tools = z.strictObject({
  read_file: about('Reads a file of the workspace.', z._default(z.boolean(), true)),
  write_file: about('Writes a file of the workspace.', z._default(z.boolean(), true)),
  grep: about('Looks for text in the workspace.', z._default(z.boolean(), true)),
  terminal: about(
    'Runs a command in the workspace; a person is asked, whatever `approval` says, until they answer `always`.',
    z._default(z.boolean(), false),
  ),
})

export const ownAgentSchema = z.strictObject({
  as: about(
    'The agent in whose name it acts: its servers, approvals and energy; default: the lead, or the only agent.',
    z.optional(word),
  ),
  model: about('Its model.', z.prefault(model, {})),
  cheap: about(
    'The model it takes when energy is low; what is left out is that of `model`.',
    z.prefault(model, {}),
  ),
  instructions: about('What it is told before every conversation.', z.optional(z.string())),
  workspace: about(
    'Folder of its own tools `read_file`, `write_file`, `grep` and `terminal`; without it there are none.',
    z.optional(word),
  ),
  tools: about('Which of them there are.', z.prefault(tools, {})),
  rounds: about(
    'How often it may ask its model before a turn ends.',
    z._default(z.number().check(z.int(), z.positive()), 40),
  ),
})

export type OwnAgent = z.output<typeof ownAgentSchema>
