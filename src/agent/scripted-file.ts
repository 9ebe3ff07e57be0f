// `provider: scripted`: answers from a JSON file, for demonstrations without a network.

import { readFileSync } from 'node:fs'
import * as z from 'zod/mini'
import { Fault } from '../base/fault.ts'
import type { Model } from './model.ts'
import { scriptedModel } from './scripted.ts'

/** The model that gives the answers in a file, one after another. */
export function scriptedFile(path: string | undefined, which: 'model' | 'cheap'): Model | Fault {
  if (path === undefined)
    return new Fault('MODEL_REFUSED', 'a scripted model needs a script', {
      hint: `set \`agent.${which}.name\` to a JSON file with a list of answers`,
    })
  try {
    return scriptedModel(script.parse(JSON.parse(readFileSync(path, 'utf8'))), 'file')
  } catch (error) {
    const reason = error instanceof z.core.$ZodError ? z.prettifyError(error) : String(error)
    return new Fault('MODEL_REFUSED', `the script ${path} cannot be used: ${reason}`, {
      hint: 'it is a list of answers such as {"text": "Hello", "uses": [{"name": "…", "arguments": {}}]}',
    })
  }
}

// --- internal ---

const use = z.strictObject({
  name: z.string(),
  arguments: z.optional(z.union([z.record(z.string(), z.unknown()), z.string()])),
  id: z.optional(z.string()),
})

const script = z.array(
  z.strictObject({
    thinking: z.optional(z.string()),
    text: z.optional(z.string()),
    uses: z.optional(z.array(use)),
    end: z.optional(z.enum(['stop', 'uses', 'length', 'refused'])),
  }),
)
