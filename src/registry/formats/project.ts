// Tools in the form in which each model provider takes them. What cannot be brought into it is left out with a reason:
// a provider refuses the whole turn for one bad tool.

import { readableText } from './data.ts'
import { writeGemini } from './gemini.ts'
import { type Read, readArguments } from './read.ts'
import type { Shape } from './shape.ts'
import { writeShape } from './write.ts'

export const TOOL_FORMATS = ['anthropic', 'openai', 'gemini', 'ai-sdk'] as const
export type ToolFormat = (typeof TOOL_FORMATS)[number]

export interface Projectable {
  /** As the model is to see it: already projected. */
  readonly name: string
  readonly description?: string
  readonly inputSchema: Readonly<Record<string, unknown>>
}

export type Projected =
  | { readonly ok: true; readonly tool: Record<string, unknown> }
  /** The reason continues "it …". */
  | { readonly ok: false; readonly reason: string }

/** A tool for one provider. Never throws and never changes what it is given. */
export function projectTool(format: ToolFormat, tool: Projectable): Projected {
  if (!NAME[format].test(tool.name))
    return { ok: false, reason: 'has a name that the provider does not take' }
  const read = readArguments(tool.inputSchema)
  if (!read.ok) return read
  const description = readableText(tool.description)
  const head = { name: tool.name, ...(description === undefined ? {} : { description }) }
  switch (format) {
    case 'anthropic':
      return withSafeKeys(read, (schema) => ({ ...head, input_schema: schema }))
    // The SDK may pass it to any provider, so what Anthropic refuses is left out here too.
    case 'ai-sdk':
      return withSafeKeys(read, (schema) => ({ ...head, inputSchema: schema }))
    case 'openai': {
      const parameters = writeShape(read.shape)
      return { ok: true, tool: { type: 'function', function: { ...head, parameters } } }
    }
    case 'gemini':
      return forGemini(head, read.shape)
  }
}

// --- internal ---

const SAFE_NAME = /^[A-Za-z0-9_-]{1,64}$/
const NAME: Record<ToolFormat, RegExp> = {
  anthropic: SAFE_NAME,
  openai: SAFE_NAME,
  'ai-sdk': SAFE_NAME,
  gemini: /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/,
}
/** It checks the top level alone: https://github.com/decocms/studio/pull/6874. */
const ANTHROPIC_KEY = /^[A-Za-z0-9_.-]{1,64}$/

function withSafeKeys(
  { shape }: Extract<Read, { ok: true }>,
  write: (schema: Record<string, unknown>) => Record<string, unknown>,
): Projected {
  const schema = writeShape(shape)
  const keys = [...(shape.properties?.keys() ?? []), ...(shape.required ?? [])]
  const bad = keys.find((key) => !ANTHROPIC_KEY.test(key))
  if (bad === undefined) return { ok: true, tool: write(schema) }
  const shown = JSON.stringify(bad.length > 64 ? `${bad.slice(0, 64)}…` : bad)
  return { ok: false, reason: `has an argument ${shown}, a name that Anthropic does not take` }
}

function forGemini(head: { name: string; description?: string }, shape: Shape): Projected {
  // A description is required there.
  const described = { name: head.name, description: head.description ?? head.name }
  // So is a property, where there are parameters at all.
  if (shape.properties?.size === 0 && shape.required === undefined) return { ok: true, tool: described }
  const written = writeGemini(shape)
  return written.ok ? { ok: true, tool: { ...described, parameters: written.schema } } : written
}
