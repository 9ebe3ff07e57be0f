// A model's wish to have a tool called: whether it can be understood, and what the model is told when not.

import { isRecord } from '../base/record.ts'
import { nearest } from '../base/suggest.ts'
import type { ModelMessage, ToolOffer, ToolOutcome, ToolUse } from './model.ts'

export function outcomeOf({ id, name }: ToolUse, text: string, isError: boolean): ToolOutcome {
  return { id, name, text, isError }
}

/** The arguments as JSON text of an object. Models leave them out where a tool has none. */
export function argumentsOf({
  arguments: text,
}: ToolUse): { readonly ok: true; readonly text: string } | { readonly ok: false; readonly problem: string } {
  if (text.trim() === '') return { ok: true, text: '{}' }
  try {
    if (isRecord(JSON.parse(text))) return { ok: true, text }
    return { ok: false, problem: 'The arguments are no JSON object. Write them as one and call again.' }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return {
      ok: false,
      problem: `The arguments are no valid JSON (${why}). Nothing was called; write them again.`,
    }
  }
}

/** What is told about a tool that was not offered; undefined when it was. */
export function unknownTool({ name }: ToolUse, tools: readonly ToolOffer[]): string | undefined {
  if (tools.some((tool) => tool.name === name)) return undefined
  const near = nearest(
    name,
    tools.map((tool) => tool.name),
  )
  return `There is no tool ${JSON.stringify(name)}.${near ? ` Did you mean ${near}?` : ''} Nothing was called.`
}

/** The same with ids that are not `taken`, by which outcomes are told apart. */
export function withOwnIds(uses: readonly ToolUse[], taken: Iterable<string>): readonly ToolUse[] {
  if (uses.length === 0) return uses
  const all = new Set(taken)
  return uses.map((use) => {
    let { id } = use
    for (let count = 2; id === '' || all.has(id); count++) id = `${use.id || 'use'}-${count}`
    all.add(id)
    return id === use.id ? use : { ...use, id }
  })
}

/** The ids of all uses in messages. */
export function idsIn(messages: readonly ModelMessage[]): string[] {
  return messages.flatMap((message) => (message.role === 'assistant' ? message.uses.map(({ id }) => id) : []))
}
