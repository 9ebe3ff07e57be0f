// The endpoint speaks both APIs as the provider packages expect them.
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { afterEach, expect, test } from 'vitest'
import { failing, overflow, rateLimited, say, use } from './answers.ts'
import { type ModelEndpoint, startModels } from './endpoint.ts'

const open: ModelEndpoint[] = []
afterEach(async () => {
  for (const endpoint of open.splice(0)) await endpoint.close()
})

async function started(...script: Parameters<typeof startModels>): Promise<ModelEndpoint> {
  const endpoint = await startModels(...script)
  open.push(endpoint)
  return endpoint
}

for (const api of ['anthropic', 'openai'] as const) {
  const modelAt = ({ url }: ModelEndpoint) =>
    api === 'anthropic'
      ? createAnthropic({ baseURL: url, apiKey: 'key-1' }).languageModel('big')
      : createOpenAICompatible({ name: 'x', baseURL: url, apiKey: 'key-1', includeUsage: true }).chatModel(
          'big',
        )

  const ask = async (endpoint: ModelEndpoint, text = 'hello') => {
    const { stream } = await modelAt(endpoint).doStream({
      prompt: [{ role: 'user', content: [{ type: 'text', text }] }],
      tools: [{ type: 'function', name: 'look', inputSchema: { type: 'object', properties: {} } }],
    })
    const parts = []
    for await (const part of stream) parts.push(part)
    return parts
  }
  const textOf = (parts: Awaited<ReturnType<typeof ask>>, type = 'text-delta') =>
    parts.map((part) => (part.type === type && 'delta' in part ? part.delta : '')).join('')

  test(`${api}: an answer with thinking, text, two uses and tokens arrives whole`, async () => {
    const endpoint = await started([
      say('Grüße an alle Welt 🌍', {
        thinking: 'let me see',
        usage: { input: 11, output: 22 },
        uses: [
          { name: 'look', arguments: { where: 'here and there' } },
          { name: 'look', arguments: '{"broken' },
        ],
      }),
    ])
    const parts = await ask(endpoint)
    expect(textOf(parts)).toBe('Grüße an alle Welt 🌍')
    expect(textOf(parts, 'reasoning-delta')).toBe('let me see')
    const calls = parts.filter((part) => part.type === 'tool-call')
    expect(calls.map(({ input }) => input)).toEqual(['{"where":"here and there"}', '{"broken'])
    expect(new Set(calls.map(({ toolCallId }) => toolCallId)).size).toBe(2)
    const end = parts.at(-1)
    expect(end).toMatchObject({
      type: 'finish',
      finishReason: { unified: 'tool-calls' },
      usage: { inputTokens: { total: 11 }, outputTokens: { total: 22 } },
    })
    expect(endpoint.asked).toMatchObject([
      { api, model: 'big', key: 'key-1', tools: ['look'], text: 'hello' },
    ])
    expect(await endpoint.asked[0]?.ended).toBe('whole')
  })

  test(`${api}: a script decides by what was asked, and the last answer stays`, async () => {
    const endpoint = await started((asked) => say(asked.text.includes('weather') ? 'sunny' : 'well'))
    expect(textOf(await ask(endpoint, 'the weather?'))).toBe('sunny')
    expect(textOf(await ask(endpoint))).toBe('well')
    endpoint.answer([use('look'), say('done')])
    for (const expected of ['', 'done', 'done']) expect(textOf(await ask(endpoint))).toBe(expected)
  })

  test(`${api}: refusals have the status, the headers and the words of the API`, async () => {
    const endpoint = await started([rateLimited('7'), failing(), overflow[api]()])
    await expect(ask(endpoint)).rejects.toMatchObject({
      statusCode: 429,
      responseHeaders: { 'retry-after': '7' },
    })
    await expect(ask(endpoint)).rejects.toMatchObject({ statusCode: 500, isRetryable: true })
    await expect(ask(endpoint)).rejects.toMatchObject({ statusCode: 400, message: overflow[api]().message })
  })

  test(`${api}: a stream that is cut, one that breaks and one that never begins`, async () => {
    const endpoint = await started([say('a long answer that is cut', { cutAfter: 4 })])
    await expect(ask(endpoint)).rejects.toThrow()
    endpoint.answer([say('a long answer that breaks', { errorAfter: 5 })])
    expect((await ask(endpoint)).some((part) => part.type === 'error')).toBe(true)
    endpoint.answer([{ kind: 'drop' }])
    await expect(ask(endpoint)).rejects.toThrow()
    endpoint.answer([{ kind: 'hang' }])
    const stop = new AbortController()
    const asking = modelAt(endpoint).doStream({ prompt: [], abortSignal: stop.signal })
    const over = expect(asking).rejects.toThrow()
    while (endpoint.asked.length < 4) await new Promise((resolve) => setImmediate(resolve))
    stop.abort()
    await over
    expect(await endpoint.asked[3]?.ended).toBe('left')
  })
}
