// The native format. This schema is the only truth: types, defaults, messages, the published JSON Schema and the
// reference page all come from it.

import * as z from 'zod'
import { type Agent, agentSchema } from './schema-agent.ts'
import { type Server, serverSchema } from './schema-server.ts'
import { approvalPreset } from './schema-values.ts'

const modelSchema = z.strictObject({
  provider: z.enum(['anthropic', 'openai', 'scripted']).optional().describe('Whose API is spoken.'),
  name: z.string().min(1).optional().describe('The model.'),
  baseUrl: z.string().min(1).optional().describe('Endpoint, for any compatible server.'),
  key: z.string().min(1).optional().describe('API key; write it as `${VAR}`.'),
})

/** Everything but servers and agents, which are checked one by one so that a bad one costs only itself. */
export const settingsShape = {
  version: z.literal(1).default(1).describe('Version of this format.'),
  enabled: z.boolean().default(true).describe('Master switch: `false` starts no server at all.'),
  lead: z.string().optional().describe('Agent that is told who has what; default: the agent called `ceo`.'),
  defaults: z
    .strictObject({
      servers: z.array(z.string()).default([]).describe('For agents that have no servers of their own.'),
      approval: approvalPreset.default('always').describe('When a person is asked before a call.'),
    })
    .prefault({})
    .describe('What holds where an agent says nothing.'),
  gateway: z
    .strictObject({
      host: z.string().min(1).default('127.0.0.1').describe('Address to listen on.'),
      port: z.number().int().min(0).max(65535).default(4747).describe('Port; 0 takes a free one.'),
      allowedHosts: z.array(z.string()).default([]).describe('Further Host headers that are accepted.'),
    })
    .prefault({})
    .describe('The MCP endpoint and console.'),
  agent: z
    .strictObject({ model: modelSchema.prefault({}).describe('Model of the built-in agent.') })
    .prefault({})
    .describe('The built-in agent.'),
  steward: z
    .strictObject({
      enabled: z.boolean().default(false).describe('Whether it works in the background.'),
      autoDiscovery: z.boolean().default(false).describe('Whether it looks for servers by itself.'),
      approval: z
        .enum(['required', 'trusted-sources', 'never'])
        .default('required')
        .describe('When a person must agree to its changes.'),
    })
    .prefault({})
    .describe('The sub-agent that finds, tests, adds and retires servers.'),
  store: z.string().min(1).default('sqlite').describe('`sqlite`, or a `postgres://` address.'),
  composio: z
    .strictObject({
      enabled: z.boolean().default(false).describe('Adds the server `composio`.'),
      apiKey: z.string().default('').describe('Its key; write it as `${VAR}`.'),
      url: z.string().min(1).default('https://connect.composio.dev/mcp').describe('Its address.'),
    })
    .prefault({})
    .describe('Composio as one remote server.'),
} as const

export const settingsSchema = z.strictObject(settingsShape)

/** A whole file, as published for editors. */
export const fileSchema = z.strictObject({
  $schema: z.string().optional().describe('For editors.'),
  extends: z
    .union([z.string(), z.array(z.string())])
    .optional()
    .describe('Files, also of other tools, that are read first.'),
  ...settingsShape,
  servers: z.record(z.string(), serverSchema).default({}).describe('MCP servers by name.'),
  agents: z.record(z.string(), agentSchema).default({}).describe('Agents by name.'),
})

export type Settings = z.output<typeof settingsSchema>
export type Config = Settings & {
  readonly servers: Readonly<Record<string, Server>>
  readonly agents: Readonly<Record<string, Agent>>
}

/** JSON Schema of a file, for editors. */
export function jsonSchema(): unknown {
  return {
    title: 'Busbar configuration',
    ...z.toJSONSchema(fileSchema, { io: 'input', target: 'draft-2020-12', unrepresentable: 'any' }),
  }
}
