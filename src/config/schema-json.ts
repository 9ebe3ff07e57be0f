// The schema as JSON Schema, apart from the schema itself: only editors and the reference page need it.

import * as z from 'zod/mini'
import { fileSchema } from './schema.ts'

/** JSON Schema of a file in the native format. */
export function jsonSchema(): Record<string, unknown> {
  return {
    title: 'Busbar configuration',
    ...z.toJSONSchema(fileSchema, { io: 'input', target: 'draft-2020-12', unrepresentable: 'any' }),
  }
}
