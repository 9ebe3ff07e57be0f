// HTTP servers whose sessions or answers do not hold.
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { write } from '../pace.mjs'
import { NOTHING, schema, text } from '../protocol.mjs'
import { changing } from './lists.mjs'
import { passage, tool, wait } from './parts.mjs'
import { plain } from './plain.mjs'

/** Tool `forget` loses all legacy sessions: the next request gets a 404. Case `changing`: like that mode otherwise. */
function sessionLoss({ case: variant }) {
  const base = variant === 'changing' ? changing() : plain()
  const forget = (_given, call) => {
    call.server.forgetSessions?.()
    return text('forgotten')
  }
  const own = tool('forget', 'Forgets all sessions', forget)
  const { tools } = base
  return { ...base, tools: typeof tools === 'function' ? () => [...tools(), own] : [...tools, own] }
}

/**
 * Tool `cut` breaks its stream in the middle. In the legacy era the answer waits for a resumption by Last-Event-ID,
 * unless `--case no-ids`; in the modern era it is lost.
 */
function streamCut({ case: variant }) {
  const base = plain()
  const cut = async ({ ms = 0 }, call) => {
    call.progress(1, 2, 'before the cut')
    call.connection.channel.cut?.(call.id)
    if (call.modern) return NOTHING
    await wait(ms, call.signal)
    return text('after the cut')
  }
  return {
    ...base,
    tools: [...base.tools, tool('cut', 'Breaks its own stream', cut, schema({ ms: { type: 'number' } }))],
    http: { sse: true, eventIds: variant !== 'no-ids' },
  }
}

const PIECE = JSON.stringify(passage(60_000)).slice(1, -1)
// Members of a gzip file may simply follow each other, so one of them is enough for any size.
const BOMB = gzipSync(' '.repeat(10_000_000))

/**
 * Bodies without an end, by tool: `endless-json`, `endless-event`, `gzip-bomb` (if the client accepts gzip).
 * `--case open` gives an endless JSON body to every request.
 */
function hugeBody({ case: variant }) {
  const base = plain()
  const endings = {
    'endless-json': ({ response, message }) => pour(response, 'application/json', head(message), PIECE),
    'endless-event': ({ response, message }) =>
      pour(response, 'text/event-stream', `event: message\ndata: ${head(message)}`, PIECE),
    'gzip-bomb': ({ request, response, message }) => {
      if (!request.headers['accept-encoding']?.includes('gzip')) return false
      response.setHeader('content-encoding', 'gzip')
      return pour(response, 'application/json', gzipSync(head(message)), BOMB)
    },
  }
  return {
    ...base,
    tools: [
      ...base.tools,
      ...Object.keys(endings).map((name) => tool(name, 'Never ends', () => text('no gzip wanted'))),
    ],
    http: {
      async message(exchange) {
        const { message } = exchange
        if (variant === 'open') return endings['endless-json'](exchange)
        const name = message.method === 'tools/call' ? message.params?.name : undefined
        return Object.hasOwn(endings, name ?? '') ? endings[name](exchange) : false
      },
    },
  }
}

/** Answers tools/call (`--case open`: everything) one byte each --delay milliseconds. */
function drip({ case: variant, delay }) {
  return {
    ...plain(),
    http: {
      async message({ response, message }) {
        if (!concerns(variant, message)) return false
        response.writeHead(200, { 'content-type': 'application/json' })
        const answer = Buffer.from(
          JSON.stringify({ jsonrpc: '2.0', id: message.id, result: text('drop by drop') }),
        )
        for (let at = 0; at < answer.length && !response.destroyed; at++) {
          response.write(answer.subarray(at, at + 1))
          await sleep(delay)
        }
        response.end()
        return true
      },
    },
  }
}

/** Sends not even the headers of tools/call (`--case open`: of anything) before --delay milliseconds are over. */
function slowHeaders({ case: variant, delay }) {
  return {
    ...plain(),
    http: {
      async message({ message }) {
        if (concerns(variant, message)) await sleep(delay)
        return false
      },
    },
  }
}

// --- internal ---

function concerns(variant, message) {
  return variant === 'open' || message.method === 'tools/call'
}

function head(message) {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(message.id ?? null)},"result":{"content":[{"type":"text","text":"`
}

async function pour(response, type, start, piece) {
  response.writeHead(200, { 'content-type': type })
  response.write(start)
  let reading = true
  while (reading) reading = await write(response, piece)
  return true
}

export const modes = {
  'session-loss': sessionLoss,
  'stream-cut': streamCut,
  'huge-body': hugeBody,
  drip,
  'slow-headers': slowHeaders,
}
