// The native format. This schema is the only truth: types, defaults, messages, the published JSON Schema and the
// reference page all come from it.

import * as z from 'zod/mini'
import { type Agent, agentSchema } from './schema-agent.ts'
import { gatewaySchema } from './schema-gateway.ts'
import { ownAgentSchema } from './schema-own-agent.ts'
import { type Server, serverSchema } from './schema-server.ts'
import { about, approvalPreset, duration, word } from './schema-values.ts'

const defaults = z.strictObject({
  servers: about('For agents that have no servers of their own.', z._default(z.array(z.string()), [])),
  approval: about('When a person is asked before a call.', z._default(approvalPreset, 'always')),
})

const approvals = z.strictObject({
  wait: about(
    'How long a call through the gateway waits for a person before its caller is told to retry.',
    z._default(duration, 15_000),
  ),
  expire: about('How long a question can be answered, and its answer used.', z._default(duration, 900_000)),
})

const steward = z.strictObject({
  enabled: about('Whether it works in the background.', z._default(z.boolean(), false)),
  autoDiscovery: about('Whether it looks for servers by itself.', z._default(z.boolean(), false)),
  approval: about(
    'When a person must agree to its changes.',
    z._default(z.enum(['required', 'trusted-sources', 'never']), 'required'),
  ),
})

const store = z.string().check(
  z.regex(/^(?:sqlite|postgres(?:ql)?:\/\/.+|.*\$\{.+)$/, {
    error: 'expected sqlite or a postgres:// address',
  }),
)

const composio = z.strictObject({
  enabled: about('Adds the server `composio`.', z._default(z.boolean(), false)),
  apiKey: about('Its key; write it as `${VAR}`.', z._default(z.string(), '')),
  url: about('Its address.', z._default(word, 'https://connect.composio.dev/mcp')),
})

/** Everything but servers and agents, which are checked one by one so that a bad one costs only itself. */
const settingsShape = {
  version: about('Version of this format.', z._default(z.literal(1), 1)),
  enabled: about('Master switch: `false` starts no server at all.', z._default(z.boolean(), true)),
  lead: about('Agent that is told who has what; default: the agent called `ceo`.', z.optional(z.string())),
  defaults: about('What holds where an agent says nothing.', z.prefault(defaults, {})),
  approvals: about('How a person is asked.', z.prefault(approvals, {})),
  gateway: about('The MCP endpoint and console.', z.prefault(gatewaySchema, {})),
  agent: about('The built-in agent.', z.prefault(ownAgentSchema, {})),
  steward: about('The sub-agent that finds, tests, adds and retires servers.', z.prefault(steward, {})),
  record: about(
    'How much of a call is kept: the shape of its arguments, a preview of both sides, or all of it.',
    z._default(z.enum(['shape', 'preview', 'full']), 'preview'),
  ),
  store: about('`sqlite`, or a `postgres://` address.', z._default(store, 'sqlite')),
  composio: about('Composio as one remote server.', z.prefault(composio, {})),
} as const

export const settingsSchema = z.strictObject(settingsShape)

/** A whole file, as published for editors. */
export const fileSchema = z.strictObject({
  $schema: about('For editors.', z.optional(z.string())),
  extends: about(
    'Files, also of other tools, that are read first.',
    z.optional(z.union([z.string(), z.array(z.string())])),
  ),
  ...settingsShape,
  servers: about('MCP servers by name.', z._default(z.record(z.string(), serverSchema), {})),
  agents: about('Agents by name.', z._default(z.record(z.string(), agentSchema), {})),
})

type Settings = z.output<typeof settingsSchema>
export type Config = Settings & {
  readonly servers: Readonly<Record<string, Server>>
  readonly agents: Readonly<Record<string, Agent>>
}
