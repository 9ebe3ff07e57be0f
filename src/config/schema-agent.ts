// One agent as written in a configuration file.

import * as z from 'zod'
import { approvalPreset, glob, NAME, ratePerMinute } from './schema-values.ts'

const worker = z.strictObject({
  enabled: z.boolean().default(true).describe('`false`: may use nothing.'),
  model: z.string().optional().describe('Model of its own engine.'),
  servers: z.array(z.string()).default([]).describe('Servers it may use; `*` is all of them.'),
  allow: z.array(glob).optional().describe('Tools it may use, as `server/tool` patterns; default: all.'),
  deny: z.array(glob).default([]).describe('Tools it may not use; goes before `allow`.'),
})

export const agentSchema = worker.extend({
  approval: approvalPreset.optional().describe('When a person is asked; default: `defaults.approval`.'),
  approver: z
    .enum(['console', 'client'])
    .default('console')
    .describe('Who is asked: the console, or the calling client (only where a person sits there).'),
  energy: z
    .union([
      z.literal('unlimited'),
      z.strictObject({
        capacity: z.number().positive().default(100).describe('Most it can hold.'),
        recovery: ratePerMinute.default(10).describe('How fast it comes back, e.g. `10/min`.'),
      }),
    ], { error: 'expected unlimited, or a map with capacity and recovery' })
    .prefault({})
    .describe('Its budget of effort.'),
  token: z.string().min(1).optional().describe('Its secret; write it as `${VAR}`. Only a hash is stored.'),
  naming: z
    .enum(['mcp__s__t', 'mcp_s_t', 's__t', 's_t'])
    .default('mcp__s__t')
    .describe('How tool names are written for its model.'),
  surface: z.enum(['full', 'search', 'auto']).default('auto').describe('All tools, or search and call tools.'),
  workers: z
    .record(z.string().regex(NAME), worker)
    .default({})
    .describe('Helpers under this agent with servers of their own.'),
})

export type Agent = z.output<typeof agentSchema>
export type Worker = z.output<typeof worker>
