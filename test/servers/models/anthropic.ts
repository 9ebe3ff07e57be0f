// The Anthropic Messages API as far as a streaming client needs it.
import type { Refuse, Say } from './answers.ts'
import { countOf, piecesOf, type SentEvent, usesOf } from './pieces.ts'

export function anthropicEvents(say: Say, model: string, input: number): SentEvent[] {
  const usage = say.usage === 'none' ? undefined : (say.usage ?? { input, output: countOf(say) })
  const message = {
    id: 'msg_scripted',
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: usage?.input ?? 0, output_tokens: 1 },
  }
  const events: SentEvent[] = [event('message_start', { message }), event('ping', {})]
  let index = 0
  const block = (content: object, deltas: object[]) => {
    events.push(event('content_block_start', { index, content_block: content }))
    for (const delta of deltas) events.push(event('content_block_delta', { index, delta }))
    events.push(event('content_block_stop', { index }))
    index += 1
  }
  if (say.thinking !== undefined)
    block({ type: 'thinking', thinking: '', signature: '' }, [
      ...piecesOf(say.thinking, say).map((thinking) => ({ type: 'thinking_delta', thinking })),
      { type: 'signature_delta', signature: 'c2NyaXB0ZWQ=' },
    ])
  if (say.text !== undefined)
    block(
      { type: 'text', text: '' },
      piecesOf(say.text, say).map((text) => ({ type: 'text_delta', text })),
    )
  for (const { id, name, text } of usesOf(say, 'toolu'))
    block(
      { type: 'tool_use', id, name, input: {} },
      piecesOf(text, say).map((partial_json) => ({ type: 'input_json_delta', partial_json })),
    )
  events.push(
    event('message_delta', {
      delta: { stop_reason: stopReason(say), stop_sequence: null },
      usage: { output_tokens: usage?.output ?? 0 },
    }),
    event('message_stop', {}),
  )
  return events
}

export function anthropicError({ type, message }: Refuse): object {
  return { type: 'error', error: { type: type ?? 'invalid_request_error', message } }
}

export const anthropicBreak: SentEvent = event('error', {
  error: { type: 'overloaded_error', message: 'Overloaded' },
})

// --- internal ---

function event(type: string, data: object): SentEvent {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`
}

function stopReason(say: Say): string {
  if (say.reason === 'length') return 'max_tokens'
  if (say.reason === 'refused') return 'refusal'
  return (say.uses?.length ?? 0) > 0 ? 'tool_use' : 'end_turn'
}
