// The only file that knows the provider packages: they speak the two APIs, everything else is ours.

import { type AnthropicProvider, createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import type { ModelChoice } from './choose.ts'
import type { Fetch } from './model-fetch.ts'

export type LanguageModel = ReturnType<AnthropicProvider['languageModel']>

/** Key and address are always given, or the packages would look for them in the environment by themselves. */
export function languageModel({ provider, name, baseUrl, key }: ModelChoice, fetch: Fetch): LanguageModel {
  if (provider === 'anthropic')
    return createAnthropic({ baseURL: baseUrl, apiKey: key ?? 'none', fetch }).languageModel(name)
  const official = new URL(baseUrl).hostname === 'api.openai.com'
  return createOpenAICompatible({
    name: 'openai',
    baseURL: baseUrl,
    includeUsage: true,
    fetch,
    ...(key === undefined ? {} : { apiKey: key }),
    // OpenAI's own models refuse the old name, and most other endpoints know only that.
    ...(official ? { transformRequestBody: withNewLimit } : {}),
  }).chatModel(name)
}

// --- internal ---

function withNewLimit({ max_tokens: limit, ...body }: Record<string, unknown>): Record<string, unknown> {
  return { ...body, max_completion_tokens: limit }
}
