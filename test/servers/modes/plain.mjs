// A well-behaved server with a bit of everything; most other modes are this one with a single quirk.
import { CODE, json, NOTHING, RpcError, schema, text } from '../protocol.mjs'
import { identity, passage, wait } from './parts.mjs'

const READ_ONLY = { readOnlyHint: true, openWorldHint: false }
const NUMBER = { type: 'number' }
const STRING = { type: 'string' }
// A one-pixel PNG.
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const CITIES = ['Amsterdam', 'Athens', 'Berlin', 'Bern', 'Zürich']

export function plain() {
  let calls = 0
  return {
    instructions: 'A plain test server. Use echo to hear yourself.',
    tools: [
      {
        name: 'echo',
        title: 'Echo',
        description: 'Gives back the text',
        inputSchema: schema({ text: STRING }, ['text']),
        annotations: { title: 'Echo', idempotentHint: true, ...READ_ONLY },
        run: (given) => text(given.text),
      },
      {
        name: 'add',
        description: 'Adds two numbers',
        inputSchema: schema({ a: NUMBER, b: NUMBER }, ['a', 'b']),
        outputSchema: schema({ sum: NUMBER }, ['sum']),
        annotations: { idempotentHint: true, ...READ_ONLY },
        run({ a, b }) {
          const structuredContent = { sum: a + b }
          return { ...json(structuredContent), structuredContent }
        },
      },
      {
        name: 'fail',
        description: 'Always gives an error result',
        inputSchema: schema({ text: STRING }),
        annotations: { destructiveHint: true, readOnlyHint: false },
        run: (given) => text(given.text ?? 'It failed, as asked', { isError: true }),
      },
      {
        name: 'throw',
        description: 'Always answers with a JSON-RPC error',
        inputSchema: schema({ code: { type: 'integer' } }),
        annotations: { destructiveHint: true, idempotentHint: false },
        run(given) {
          throw new RpcError(given.code ?? CODE.internal, 'It threw, as asked', { data: { tool: 'throw' } })
        },
      },
      {
        name: 'sleep',
        description: 'Answers after some milliseconds',
        inputSchema: schema({ ms: NUMBER }, ['ms']),
        annotations: READ_ONLY,
        async run({ ms }, call) {
          await wait(ms, call.signal)
          return text(`slept ${ms} ms`)
        },
      },
      {
        name: 'env',
        description: 'The environment of the server process',
        inputSchema: schema(),
        annotations: READ_ONLY,
        run: () => json(process.env),
      },
      {
        name: 'pid',
        description: 'The ids of the server process',
        inputSchema: schema(),
        annotations: READ_ONLY,
        run: () => json(identity()),
      },
      {
        name: 'progress',
        description: 'Reports progress in steps, then answers; coalesce puts all of it into one write',
        inputSchema: schema({
          steps: { type: 'integer' },
          delay: NUMBER,
          coalesce: { type: 'boolean' },
        }),
        annotations: READ_ONLY,
        run: progress,
      },
      {
        name: 'count',
        description: 'How often this tool was called in this process',
        inputSchema: schema(),
        annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
        run: () => text(String(++calls)),
      },
      {
        name: 'blob',
        description: 'A text of so many characters, with quotes, escapes and letters beyond ASCII',
        inputSchema: schema({ size: { type: 'integer' } }, ['size']),
        annotations: READ_ONLY,
        run: ({ size }) => text(passage(size)),
      },
      {
        name: 'log',
        description: 'Sends a log message, then answers',
        inputSchema: schema({ level: STRING, text: STRING }),
        run(given, call) {
          call.log(given.level ?? 'info', given.text ?? 'hello')
          return text('logged')
        },
      },
    ],
    resources: [
      {
        uri: 'test://text',
        name: 'text',
        title: 'A text',
        mimeType: 'text/plain',
        annotations: { audience: ['user'], priority: 0.5 },
        run: (uri) => [{ uri, mimeType: 'text/plain', text: 'Grüße – “quoted” text' }],
      },
      {
        uri: 'test://pixel',
        name: 'pixel',
        mimeType: 'image/png',
        run: (uri) => [{ uri, mimeType: 'image/png', blob: PIXEL }],
      },
    ],
    templates: [
      {
        uriTemplate: 'test://city/{name}',
        name: 'city',
        mimeType: 'text/plain',
        matches: (uri) => uri.startsWith('test://city/'),
        run: (uri) => [{ uri, mimeType: 'text/plain', text: `City: ${decodeURIComponent(uri.slice(12))}` }],
      },
    ],
    prompts: [
      {
        name: 'greet',
        description: 'Greets somebody',
        arguments: [{ name: 'name', description: 'Whom to greet', required: true }],
        run(given) {
          if (!given.name) throw new RpcError(CODE.invalidParams, 'Argument name is missing')
          const content = { type: 'text', text: `Say hello to ${given.name}` }
          return { description: 'A greeting', messages: [{ role: 'user', content }] }
        },
      },
    ],
    complete: (_reference, argument) =>
      CITIES.filter((city) => city.toLowerCase().startsWith(argument.value.toLowerCase())),
  }
}

export const modes = { plain }

// --- internal ---

async function progress({ steps = 3, delay = 0, coalesce = false }, call) {
  const numbers = Array.from({ length: steps }, (_, index) => index + 1)
  const done = text(`${steps} steps`)
  if (coalesce) {
    const updates = numbers.map((step) => call.progressMessage(step, steps, `step ${step}`)).filter(Boolean)
    call.send([...updates, call.answer(done)], true)
    return NOTHING
  }
  for (const step of numbers) {
    await wait(delay, call.signal)
    call.progress(step, steps, `step ${step}`)
  }
  return done
}
