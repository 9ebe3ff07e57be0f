// The schema as JSON Schema, apart from the schema itself: only editors and the reference page need it.

import * as z from 'zod/mini'
import { isRecord } from '../base/record.ts'
import { fileSchema } from './schema.ts'

/** JSON Schema of a file in the native format, with the words of other tools that are understood as well. */
export function jsonSchema(): Record<string, unknown> {
  const made = z.toJSONSchema(fileSchema, { io: 'input', target: 'draft-2020-12', unrepresentable: 'any' })
  const file = properties(made)
  const server = properties(inside(file['servers']))
  const agent = properties(inside(file['agents']))
  const worker = properties(inside(agent['workers']))
  file['mcpServers'] = { ...Object(file['servers']), description: 'Synonym of `servers`.' }
  file['integrations'] = { type: 'object', description: 'The section of the `integrations:` format.' }
  for (const holder of [agent, worker])
    holder['mcp_servers'] = { ...Object(holder['servers']), description: 'Synonym of `servers`.' }
  agent['workers'] = {
    anyOf: [agent['workers'], { type: 'array' }],
    description: Object(agent['workers']).description,
  }
  server['disabled'] = { type: 'boolean', description: 'The opposite of `enabled`; off wins.' }
  server['transport'] = { ...Object(server['type']), description: 'Synonym of `type`.' }
  server['timeout'] = {
    type: ['number', 'string'],
    description: 'Synonym of `timeouts.call`; below 1000 it is seconds.',
  }
  return { title: 'Busbar configuration', ...made }
}

// --- internal ---

type Schema = Record<string, unknown>

function properties(schema: unknown): Schema {
  const found = Object(schema).properties
  if (!isRecord(found)) throw new Error('the schema is not a map of known keys')
  return found
}

/** The schema of the entries of a map. */
function inside(schema: unknown): unknown {
  return Object(schema).additionalProperties
}
