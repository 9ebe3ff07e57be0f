// The chat-completions API of OpenAI, and of everybody who speaks it, as far as a streaming client needs it.
import type { Refuse, Say } from './answers.ts'
import { countOf, piecesOf, type SentEvent, usesOf } from './pieces.ts'

/** `counted`: the client asked for usage. */
export function openaiEvents(say: Say, model: string, input: number, counted: boolean): SentEvent[] {
  const chunk = (delta: object, finish: string | null = null) =>
    event({ ...head(model), choices: [{ index: 0, delta, finish_reason: finish }] })
  const events: SentEvent[] = [chunk({ role: 'assistant', content: '' })]
  for (const piece of piecesOf(say.thinking ?? '', say)) events.push(chunk({ reasoning_content: piece }))
  for (const content of piecesOf(say.text ?? '', say)) events.push(chunk({ content }))
  // Several at once come interleaved, as from real endpoints: only the index tells whose piece it is.
  const uses = usesOf(say, 'call')
  uses.forEach(({ id, name }, index) => {
    const call = { index, id, type: 'function', function: { name, arguments: '' } }
    events.push(chunk({ tool_calls: [call] }))
  })
  const torn = uses.map(({ text }) => piecesOf(text, say))
  for (let round = 0; torn.some((pieces) => round < pieces.length); round++)
    torn.forEach((pieces, index) => {
      const piece = pieces[round]
      if (piece !== undefined) events.push(chunk({ tool_calls: [{ index, function: { arguments: piece } }] }))
    })
  events.push(chunk({}, finishReason(say)))
  if (counted && say.usage !== 'none') {
    const { input: prompt_tokens, output: completion_tokens } = say.usage ?? { input, output: countOf(say) }
    const usage = { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens }
    events.push(event({ ...head(model), choices: [], usage }))
  }
  return [...events, 'data: [DONE]\n\n']
}

export function openaiError({ type, code, message }: Refuse): object {
  return { error: { message, type: type ?? 'invalid_request_error', param: null, code: code ?? null } }
}

export const openaiBreak: SentEvent = event({
  error: { message: 'The server is overloaded', type: 'server_error', param: null, code: 'overloaded' },
})

// --- internal ---

function head(model: string): object {
  return { id: 'chatcmpl-scripted', object: 'chat.completion.chunk', created: 1_700_000_000, model }
}

function event(data: object): SentEvent {
  return `data: ${JSON.stringify(data)}\n\n`
}

function finishReason(say: Say): string {
  if (say.reason === 'length') return 'length'
  if (say.reason === 'refused') return 'content_filter'
  return (say.uses?.length ?? 0) > 0 ? 'tool_calls' : 'stop'
}
