// A request in the words of the provider packages.

import { isRecord } from '../../base/record.ts'
import type { ModelMessage, ModelRequest } from '../model.ts'
import type { ModelChoice } from './choose.ts'
import type { LanguageModel } from './language-model.ts'

type CallOptions = Parameters<LanguageModel['doStream']>[0]
type PromptMessage = CallOptions['prompt'][number]

export function callOptions(
  { system, messages, tools, maxTokens }: ModelRequest,
  { provider }: Pick<ModelChoice, 'provider'>,
  abortSignal: AbortSignal,
): CallOptions {
  const idOf = provider === 'anthropic' ? plainId : (id: string) => id
  const said = messages.flatMap((message) => promptMessage(message, idOf))
  const last = said.at(-1)
  const prompt: PromptMessage[] = [
    ...(system === '' ? [] : [cached({ role: 'system', content: clean(system) } as const)]),
    ...said.slice(0, -1),
    ...(last === undefined ? [] : [cached(last)]),
  ]
  return {
    prompt,
    maxOutputTokens: maxTokens,
    abortSignal,
    // Arguments are needed whole, and not every endpoint that speaks this API knows the field which asks for pieces.
    providerOptions: { anthropic: { toolStreaming: false } },
    ...(tools.length === 0
      ? {}
      : {
          tools: tools.map(({ name, description, inputSchema }) => ({
            type: 'function' as const,
            name,
            description: clean(description),
            inputSchema: { ...inputSchema },
          })),
        }),
  }
}

// --- internal ---

function promptMessage(message: ModelMessage, idOf: (id: string) => string): PromptMessage[] {
  switch (message.role) {
    case 'user':
      return [{ role: 'user', content: [{ type: 'text', text: spoken(message.text) }] }]
    case 'assistant': {
      const text = message.text.trim() === '' ? [] : [{ type: 'text' as const, text: clean(message.text) }]
      const uses = message.uses.map(({ id, name, arguments: text }) => ({
        type: 'tool-call' as const,
        toolCallId: idOf(id),
        toolName: name,
        input: inputOf(text),
      }))
      // An answer without anything in it is refused by the APIs.
      return text.length + uses.length === 0 ? [] : [{ role: 'assistant', content: [...text, ...uses] }]
    }
    case 'tools':
      return [
        {
          role: 'tool',
          content: message.outcomes.map(({ id, name, text, isError }) => ({
            type: 'tool-result' as const,
            toolCallId: idOf(id),
            toolName: name,
            output: { type: isError ? ('error-text' as const) : ('text' as const), value: spoken(text) },
          })),
        },
      ]
  }
}

/** Everything up to here need not be read anew the next time, which Anthropic wants to be told. */
function cached<T extends PromptMessage>(message: T): T {
  return { ...message, providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } } }
}

/** The APIs take only objects back. What was broken was answered with an error that says how. */
function inputOf(text: string): Record<string, unknown> {
  try {
    const input: unknown = JSON.parse(text === '' ? '{}' : text)
    return isRecord(input) ? input : {}
  } catch {
    return {}
  }
}

/** Anthropic takes only such ids, and a conversation may have begun with another model. */
function plainId(id: string): string {
  return id.replace(/[^\w-]/g, '_')
}

/** Texts without anything in them are refused. */
function spoken(text: string): string {
  return text.trim() === '' ? '(empty)' : clean(text)
}

/** Half a surrogate pair is no text for the APIs, and may stand where a long result was cut. */
function clean(text: string): string {
  return Buffer.from(text).toString()
}
