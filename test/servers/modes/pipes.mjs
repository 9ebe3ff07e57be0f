// Servers that treat their pipes badly; all of them for stdio.
import { once } from 'node:events'
import { closeSync } from 'node:fs'
import { setImmediate as turn } from 'node:timers/promises'
import { NOTHING, schema, text } from '../protocol.mjs'
import { tool } from './parts.mjs'
import { plain } from './plain.mjs'

const BANNER = [
  '\u001b[1;32m  My Server v1.0 \u001b[0m — listening on stdio',
  'Debugger attached.',
  '{"level":"info","msg":"JSON, but no JSON-RPC"}',
  '[1, 2, 3]',
  '"text"',
  '42',
  'null',
  '{"jsonrpc":"2.0"',
  '\ufeff',
  '',
].join('\n')

/** Noise on stdout before the first message and before each further one. */
function banner() {
  return {
    ...plain(),
    stdio: {
      before: `${BANNER}\n`,
      write: (content, out) =>
        void out.write(`log: about to answer\n{"time":1,"msg":"noise"}\r\n\n${content}`),
    },
  }
}

/** Tiny pieces, cut inside UTF-8 characters; tool `partial-exit` writes half a line and exits with code 0. */
function partial() {
  const base = plain()
  const half = tool('partial-exit', 'Writes half an answer, then exits', async (_given, call) => {
    // Lets the answers to earlier requests out first.
    await turn()
    const line = JSON.stringify(call.answer({ content: [{ type: 'text', text: 'never whole' }] }))
    await call.connection.channel.raw(line.slice(0, line.length / 2))
    process.exit(0)
  })
  return { ...base, tools: [...base.tools, half], stdio: { write: writePieces } }
}

// Pieces of 1 to 7 bytes at first; longer ones later, so that long messages still arrive in good time.
async function writePieces(content, out) {
  const bytes = Buffer.from(content)
  let size = 1
  for (let from = 0; from < bytes.length; ) {
    out.write(bytes.subarray(from, from + size))
    from += size
    size = from < 4096 ? (size % 7) + 1 : 997
    await turn()
  }
}

/** Some 50 MB of stderr each second if anybody reads that fast, while serving as usual. */
function stderrFlood() {
  const lines = `${'stderr noise '.repeat(80)}\n`.repeat(64)
  const pour = () => {
    if (process.stderr.write(lines)) setTimeout(pour, 1)
    else process.stderr.once('drain', pour)
  }
  return { ...plain(), start: pour }
}

/** Reads no more after the handshake; `--case call` only from the first tools/call on. */
function noRead({ case: variant }) {
  const last = variant === 'call' ? ['tools/call'] : ['notifications/initialized', 'server/discover']
  const mode = {
    ...plain(),
    receive(message) {
      if (!last.includes(message.method)) return false
      process.stdin.pause()
      mode.staysOpen = true
      // A paused stdin keeps no process alive.
      setInterval(() => {}, 60_000)
      return message.method === 'tools/call'
    },
  }
  return mode
}

/** Tool `close` closes stdout in the middle of the call; the process lives on until stdin ends. */
function closeStdout() {
  const base = plain()
  const close = tool('close', 'Closes stdout', async () => {
    await turn()
    process.stdout.destroy()
    // Node keeps the descriptors of the standard streams open; the client must see the end.
    closeSync(1)
    return NOTHING
  })
  return { ...base, tools: [...base.tools, close] }
}

/** Tool `close` closes stdin and says so; the process lives on until a signal ends it. */
function closeStdin() {
  const base = plain()
  const close = tool('close', 'Closes stdin', async () => {
    process.stdin.destroy()
    await once(process.stdin, 'close')
    // Node keeps the descriptors of the standard streams open; the client must see the end.
    closeSync(0)
    setInterval(() => {}, 60_000)
    return text('closed')
  })
  return { ...base, tools: [...base.tools, close] }
}

/** Tool `write` writes what it is told to stdout, byte by byte: `ID` stands for the id of the call, `FILL` for many letters. */
function verbatim() {
  const base = plain()
  const properties = { text: { type: 'string' }, fill: { type: 'integer' }, exit: { type: 'boolean' } }
  const run = async ({ text: given, fill = 0, exit = false }, call) => {
    const written = given.replaceAll('ID', String(call.id)).replaceAll('FILL', 'x'.repeat(fill))
    await call.connection.channel.raw(written)
    if (exit) process.exit(0)
    return NOTHING
  }
  const write = tool('write', 'Writes to stdout; exit ends it then', run, schema(properties, ['text']))
  return { ...base, tools: [...base.tools, write] }
}

export const modes = {
  banner,
  verbatim,
  partial,
  'stderr-flood': stderrFlood,
  'no-read': noRead,
  'close-stdout': closeStdout,
  'close-stdin': closeStdin,
}
