// One server as written in a configuration file.

import * as z from 'zod'
import { approvalPreset, duration, glob, textList, textMap, verdict } from './schema-values.ts'

export const TRANSPORTS = ['stdio', 'http', 'sse', 'websocket', 'sdk', 'claudeai-proxy'] as const
export type Transport = (typeof TRANSPORTS)[number]

const auth = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('none') }),
    z.strictObject({
      type: z.literal('api_key'),
      headerName: z.string().min(1).default('Authorization').describe('Header that carries the key.'),
      apiKey: z.string().min(1).describe('The key; write it as `${VAR}`.'),
    }),
    z.strictObject({
      type: z.literal('oauth'),
      authUrl: z.string().optional().describe('Authorization endpoint; found by discovery when absent.'),
      tokenUrl: z.string().optional().describe('Token endpoint; found by discovery when absent.'),
      clientId: z.string().optional().describe('A client registered beforehand.'),
      clientSecret: z.string().optional().describe('Its secret; write it as `${VAR}`.'),
      scopes: z.array(z.string()).optional().describe('Scopes to ask for.'),
      redirectPort: z.number().int().min(1).max(65535).optional().describe('A fixed loopback port.'),
    }),
    z.strictObject({
      type: z.literal('token_file'),
      tokenPath: z.string().min(1).describe('File that holds the token.'),
    }),
  ])
  .describe('How Busbar signs in to the server.')

const sandbox = z
  .strictObject({
    read: textList.default([]).describe('Paths the server may read.'),
    write: textList.default([]).describe('Paths the server may write.'),
    network: z.boolean().default(true).describe('Whether it may use the network.'),
  })
  .describe('Confines the process with bubblewrap; refused where bubblewrap is absent.')

export const serverSchema = z.strictObject({
  type: z.enum(TRANSPORTS).optional().describe('Transport. Follows from `command` (stdio) or `url` (http).'),
  command: z.string().min(1).optional().describe('Program to run, without a shell (stdio).'),
  args: textList.default([]).describe('Its arguments.'),
  env: textMap.default({}).describe('Environment added to the minimal one the process gets.'),
  envFile: z.string().min(1).optional().describe('File with further `NAME=value` lines; `env` wins.'),
  cwd: z.string().min(1).optional().describe('Working folder; default: the project folder.'),
  url: z.string().min(1).optional().describe('Address of a remote server.'),
  headers: textMap.default({}).describe('Headers sent with every request.'),
  id: z.string().min(1).optional().describe('Connector id (`type: claudeai-proxy`).'),
  description: z.string().optional().describe('What it is for; shown to people and agents.'),
  category: z.string().optional().describe('A word to group servers by.'),
  prefix: z.string().min(1).optional().describe('Stands for the server in tool names; default: its name.'),
  enabled: z.boolean().default(true).describe('`false` keeps the entry and starts nothing.'),
  start: z.enum(['eager', 'lazy']).default('eager').describe('Start with Busbar, or at the first call.'),
  share: z
    .enum(['process', 'agent', 'session'])
    .default('process')
    .describe('One process for all, one for each agent, or one for each session.'),
  tools: z
    .strictObject({
      include: z.array(glob).default(['*']).describe('Tools that are offered.'),
      exclude: z.array(glob).default([]).describe('Tools that are not.'),
    })
    .prefault({})
    .describe('Which of its tools are offered at all.'),
  timeouts: z
    .strictObject({
      connect: duration.default(10_000).describe('Until it must have answered the first time.'),
      call: duration.default(60_000).describe('Until a call must have made progress.'),
    })
    .prefault({})
    .describe('Deadlines.'),
  approval: z
    .union([approvalPreset, z.record(glob, verdict)], {
      error: 'expected always, writes, destructive, never, or a map of tool patterns to allow, ask or deny',
    })
    .optional()
    .describe('Rules by tool pattern, or one preset for the whole server.'),
  price: z.record(glob, z.number().nonnegative()).default({}).describe('Energy on top of time, by tool pattern.'),
  auth: auth.optional(),
  sandbox: sandbox.optional(),
  trustAnnotations: z
    .boolean()
    .default(false)
    .describe('Let the server say itself which tools only read. Without it, its hints only raise the gate.'),
})

export type Server = z.output<typeof serverSchema>
/** A server as a person writes it: everything optional, durations as text. */
export type ServerInput = z.input<typeof serverSchema>

/** The transport an entry asks for, or undefined when it has neither command nor url. */
export function transportOf(server: {
  readonly type?: Transport | undefined
  readonly command?: unknown
  readonly url?: unknown
}): Transport | undefined {
  if (server.type !== undefined) return server.type
  if (server.command !== undefined) return 'stdio'
  return server.url === undefined ? undefined : 'http'
}
