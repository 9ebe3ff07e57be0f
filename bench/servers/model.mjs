// A model that wants a tool called again and again, as the Messages API streams it: who was told to hang calls the tool that
// hangs, everybody else the one that answers. An answer takes a tenth of a second, in ten pieces.
import { createServer } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'

const PIECES = 10
const PAUSE = 10

const server = createServer(async (request, response) => {
  const parts = []
  for await (const part of request) parts.push(part)
  const body = Buffer.concat(parts).toString()
  const name = body.includes('please hang') ? 'stuck_hang' : 'echo_text'
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const tell = (type, data) =>
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`)
  const message = {
    id: 'm',
    type: 'message',
    role: 'assistant',
    model: 'bench',
    content: [],
    stop_reason: null,
  }
  tell('message_start', {
    message: { ...message, stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } },
  })
  tell('content_block_start', { index: 0, content_block: { type: 'text', text: '' } })
  for (let piece = 0; piece < PIECES; piece++) {
    tell('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'a word ' } })
    await pause(PAUSE)
  }
  tell('content_block_stop', { index: 0 })
  const id = `toolu_${Math.random().toString(36).slice(2)}`
  tell('content_block_start', { index: 1, content_block: { type: 'tool_use', id, name, input: {} } })
  tell('content_block_delta', { index: 1, delta: { type: 'input_json_delta', partial_json: '{"size":100}' } })
  tell('content_block_stop', { index: 1 })
  tell('message_delta', {
    delta: { stop_reason: 'tool_use', stop_sequence: null },
    usage: { output_tokens: 20 },
  })
  tell('message_stop', {})
  response.end()
})
server.listen(0, '127.0.0.1', () => console.log(JSON.stringify({ port: server.address().port })))
