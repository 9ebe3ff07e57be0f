// Servers whose answers are large, deep, or hold numbers that JavaScript cannot.
import { NOTHING, schema, text } from '../protocol.mjs'
import { passage, tool } from './parts.mjs'
import { plain } from './plain.mjs'

// As JSON text inside a string, so that pieces can be put side by side.
const PIECE = JSON.stringify(passage(60_000)).slice(1, -1)
const INTEGER = { type: 'integer' }

function* many(text, bytes) {
  const size = Buffer.byteLength(text)
  let left = bytes
  for (; left >= size; left -= size) yield text
  yield 'x'.repeat(left)
}

function* hugeAnswer(id, bytes, idLast) {
  const envelope = `"jsonrpc":"2.0","id":${JSON.stringify(id)}`
  yield idLast
    ? '{"result":{"content":[{"type":"text","text":"'
    : `{${envelope},"result":{"content":[{"type":"text","text":"`
  yield* many(PIECE, bytes)
  yield idLast ? `"}],"resultType":"complete"},${envelope}}` : '"}],"resultType":"complete"}}'
}

function* endlessAnswer(id) {
  yield `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"content":[{"type":"text","text":"`
  for (;;) yield PIECE
}

/** One line of any size, or without an end. */
function huge() {
  const base = plain()
  return {
    ...base,
    tools: [
      ...base.tools,
      tool(
        'huge',
        'A text of so many bytes (as JSON); idLast puts the id behind the result',
        async ({ bytes, idLast }, call) => {
          await call.stream(hugeAnswer(call.id, bytes, idLast))
          return NOTHING
        },
        schema({ bytes: INTEGER, idLast: { type: 'boolean' } }, ['bytes']),
      ),
      tool('endless', 'An answer that never ends', async (_given, call) => {
        await call.stream(endlessAnswer(call.id))
        return NOTHING
      }),
    ],
  }
}

/** Arrays within arrays. `where` puts them into structuredContent or _meta. */
function deep() {
  const base = plain()
  const run = ({ depth, where = 'structuredContent' }, call) => {
    // Written as text: JSON.stringify itself would overflow the stack.
    const nested = '['.repeat(depth) + ']'.repeat(depth)
    const value = where === '_meta' ? `"_meta":{"deep":${nested}}` : `"structuredContent":{"deep":${nested}}`
    return `{"jsonrpc":"2.0","id":${JSON.stringify(call.id)},"result":{"content":[{"type":"text","text":"${depth} deep"}],"resultType":"complete",${value}}}`
  }
  const properties = { depth: INTEGER, where: { type: 'string', enum: ['structuredContent', '_meta'] } }
  return {
    ...base,
    tools: [...base.tools, tool('deep', 'Nested arrays', run, schema(properties, ['depth']))],
  }
}

const NUMBERS =
  '{"integer":12345678901234567891,"negative":-9007199254740993,"float":1.0,"exponent":1e400,"small":1e-400,"zero":-0,"digits":0.1000000000000000055511151231257827,"E":1E+2,"twice":{"a":1,"a":2,"nested":{"b":"first","b":"second"}}}'

/** Number lexemes and duplicate keys that a parse and stringify would change. */
function bigNumbers() {
  const base = plain()
  const run = (_given, call) =>
    `{"jsonrpc":"2.0","id":${JSON.stringify(call.id)},"result":{"content":[{"type":"text","text":${JSON.stringify(NUMBERS)}}],"structuredContent":${NUMBERS},"resultType":"complete"}}`
  const echo = tool('type-of', 'How an argument arrived', ({ value }) => text(`${typeof value} ${value}`))
  return { ...base, tools: [...base.tools, tool('numbers', 'Numbers beyond a double', run), echo] }
}

export const modes = { huge, deep, 'big-numbers': bigNumbers }
