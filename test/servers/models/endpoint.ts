// An HTTP endpoint on loopback that speaks the Anthropic Messages API and the chat-completions API of OpenAI, streaming
// what a test scripted, and remembers what it was asked.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { answerJson, type Listener, listen, readBody } from '../oauth/listener.ts'
import type { Answer, Refuse, Say } from './answers.ts'
import { anthropicBreak, anthropicError, anthropicEvents } from './anthropic.ts'
import { openaiBreak, openaiError, openaiEvents } from './openai.ts'
import { type SentEvent, tokensOf } from './pieces.ts'

interface Asked {
  api: 'anthropic' | 'openai'
  model: string
  /** Its key as it came, without `Bearer`. */
  key: string | undefined
  /** Names of the tools on offer. */
  tools: string[]
  system: string
  /** Every text in the messages but the system's, also of tool results, in order: for scripts that look for a word. */
  text: string
  /** The body as it came. */
  body: Record<string, unknown>
  /** Resolves when the exchange is over: whether the client left before it was whole. */
  ended: Promise<'whole' | 'left'>
}

/** Decides by what was asked; `count` is how many came before on this endpoint. */
export type Script = (asked: Asked, count: number) => Answer | Promise<Answer>

export interface ModelEndpoint extends Listener {
  /** To be given as base URL, of both APIs. */
  url: string
  asked: Asked[]
  /** What to answer from now on: a function, or answers in order, of which the last is given again and again. */
  answer(script: Script | Answer[]): void
}

export async function startModels(script: Script | Answer[] = []): Promise<ModelEndpoint> {
  const asked: Asked[] = []
  let current = scriptOf(script)
  const listener = await listen(() => async (request, response) => {
    const api = apiOf(request.url ?? '')
    if (api === undefined || request.method !== 'POST') return answerJson(response, 404, {})
    const question = await read(api, request, response)
    const answer = await current(question, asked.push(question) - 1)
    return give(question, answer, response)
  })
  return {
    ...listener,
    url: `${listener.origin}/v1`,
    asked,
    answer: (next) => {
      current = scriptOf(next)
    },
  }
}

// --- internal ---

const NOTHING_SCRIPTED: Refuse = { kind: 'refuse', status: 400, message: 'no answer was scripted' }

function scriptOf(script: Script | Answer[]): Script {
  if (typeof script === 'function') return script
  const left = [...script]
  return () => (left.length > 1 ? left.shift() : left[0]) ?? NOTHING_SCRIPTED
}

function apiOf(path: string): Asked['api'] | undefined {
  if (path.endsWith('/messages')) return 'anthropic'
  return path.endsWith('/chat/completions') ? 'openai' : undefined
}

async function read(api: Asked['api'], request: IncomingMessage, response: ServerResponse): Promise<Asked> {
  const ended = new Promise<'whole' | 'left'>((resolve) =>
    response.once('close', () => resolve(response.writableFinished ? 'whole' : 'left')),
  )
  const body = JSON.parse(await readBody(request)) as Record<string, unknown>
  const { authorization, 'x-api-key': key } = request.headers
  const tools = Array.isArray(body['tools']) ? body['tools'] : []
  const messages = Array.isArray(body['messages']) ? body['messages'] : []
  const isSystem = ({ role }: { role?: string }) => role === 'system'
  return {
    api,
    model: String(body['model']),
    key: typeof key === 'string' ? key : authorization?.replace(/^Bearer /, ''),
    tools: tools.map((tool) => String(tool.name ?? tool.function?.name)),
    // One API has it beside the messages, the other among them.
    system: [...textsIn(body['system'], 'text'), ...textsIn(messages.filter(isSystem))].join('\n'),
    text: textsIn(messages.filter((message) => !isSystem(message))).join('\n'),
    body,
    ended,
  }
}

/** Only what somebody said: neither keys nor roles. */
function textsIn(value: unknown, key = ''): string[] {
  if (typeof value === 'string') return /^(?:text|content|arguments)$/.test(key) ? [value] : []
  if (Array.isArray(value)) return value.flatMap((item) => textsIn(item, key))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, item]) => textsIn(item, name))
}

async function give(asked: Asked, answer: Answer, response: ServerResponse): Promise<void> {
  switch (answer.kind) {
    case 'say':
      return stream(asked, answer, response)
    case 'refuse': {
      const body = asked.api === 'anthropic' ? anthropicError(answer) : openaiError(answer)
      const { status, retryAfter } = answer
      return answerJson(response, status, body, retryAfter === undefined ? {} : { 'retry-after': retryAfter })
    }
    case 'garbage':
      response.writeHead(200, { 'content-type': answer.type ?? 'text/event-stream' }).end(answer.text)
      return
    case 'hang':
      if (answer.headers) response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
      return
    case 'drop':
      response.destroy()
      return
    case 'redirect':
      response.writeHead(307, { location: answer.to }).end()
      return
  }
}

async function stream(asked: Asked, answer: Say, response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  let sent = 0
  for (const event of eventsOf(asked, answer)) {
    if (sent > 0) await answer.pace?.(sent)
    if (response.destroyed) return
    if (sent === answer.errorAfter) {
      response.end(asked.api === 'anthropic' ? anthropicBreak : openaiBreak)
      return
    }
    if (sent === answer.cutAfter) {
      // What was sent must arrive, or the cut would not be where the test wants it.
      response.write('', () => response.destroy())
      return
    }
    response.write(event)
    sent += 1
  }
  response.end()
}

function eventsOf({ api, model, body }: Asked, answer: Say): SentEvent[] {
  const input = tokensOf(JSON.stringify(body['messages'] ?? ''))
  if (api === 'anthropic') return anthropicEvents(answer, model, input)
  const options = body['stream_options'] as { include_usage?: boolean } | undefined
  return openaiEvents(answer, model, input, options?.include_usage === true)
}
