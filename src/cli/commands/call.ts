// `busbar call SERVER/TOOL`: calls a tool, once, and shows what came of it.

import { readFileSync } from 'node:fs'
import { buffer } from 'node:stream/consumers'
import { Fault } from '../../base/fault.ts'
import { JsonText } from '../../call/argument-text.ts'
import type { Progress } from '../../call/call.ts'
import type { CallResult } from '../../call/result.ts'
import { awake } from '../../connect/reach.ts'
import { type Arguments, checkArguments, readArguments } from '../call-arguments.ts'
import { command } from '../command.ts'
import { EXIT } from '../exit.ts'
import { gatewayFollows } from '../gateway-client.ts'
import { type Output, safeJson } from '../output.ts'
import { withHub } from '../private-hub.ts'
import { callRemotely, remoteSchema } from '../remote-call.ts'
import { checkOutput, OUTPUT_OPTIONS, saveFile } from '../save-file.ts'
import type { Session } from '../session.ts'
import { namedServer } from '../settle.ts'
import { firstBinary, resultLines } from '../show-result.ts'
import { timeSpan } from '../time-span.ts'

interface CallOptions {
  readonly agent?: string
  readonly timeout?: string
  readonly wait?: string
  readonly 'no-check'?: boolean
  readonly output?: string
  readonly force?: boolean
}

export const spec = command({
  summary: 'call a tool',
  words: '<server/tool> [arguments...]',
  options: {
    agent: { value: 'name', about: 'as this agent, with what it may use' },
    timeout: { value: 'time', about: 'give up after so long without progress, such as 30s' },
    wait: { value: 'time', about: 'wait so long for a person where one is asked first, such as 5m' },
    'no-check': { about: 'send the arguments without looking at the tool’s schema' },
    ...OUTPUT_OPTIONS,
  },
  help: `
Arguments: key=value as the tool's schema says (numbers, true, JSON lists and objects; else text), key:=JSON whatever it
says, key=@FILE for a file's text; or one JSON object; or - for a JSON object on stdin.
With --json the result is printed exactly as the server gave it. Exit 5 when the tool says that it failed, 7 when a person
has to allow it first: answer with busbar approve allow, then make the same call again; or let it wait with --wait.

Examples:
  busbar call files/read_text_file path=README.md
  busbar call github:create_issue title="It fails" labels:='["bug"]' body=@report.md
  echo '{"a": 1, "b": 2}' | busbar call calculator/add - --json
  busbar call browser/screenshot --output page.png --timeout 2m`,
  run: async (session, [address = '', ...words], options) => {
    const { server, tool } = partsOf(address)
    const timeout =
      options.timeout === undefined ? undefined : timeSpan('timeout', options.timeout, '500ms, 30s or 2m')
    const approvalWait =
      options.wait === undefined ? undefined : timeSpan('wait', options.wait, '30s, 5m or 1h')
    checkOutput(options)
    const loaded = await session.load({ warnings: false })
    if (await gatewayFollows(loaded.active, session.signal)) {
      const agent = options.agent
      const about = { agent, server, tool, timeout, approvalWait }
      const schema = await remoteSchema(session, loaded.active.places, about)
      const { text } = await argumentsOf(session, words, schema, options)
      finish(await callRemotely(session, loaded.active.places, about, text), session.out, options)
      return
    }
    await withHub(session, loaded, {}, async (hub, line) => {
      const { out, signal } = session
      const connection = namedServer(hub, loaded, options.agent, server)
      line.show(`starting ${server}`)
      const cached = connection.tool(tool)
      if (cached) hub.context.validators.prepare([cached.tool])
      await awake(connection, { method: 'tools/call', signal, timeout })
      const known = connection.tool(tool)?.tool
      const given = await argumentsOf(session, words, known?.inputSchema ?? {}, options)
      line.show(`calling ${server}/${tool}`)
      // A tool that is not there is told by the call, which knows what else there is.
      const result = await hub.as(options.agent).call(`${server}/${tool}`, new JsonText(given.text), {
        signal,
        timeout,
        approvalWait,
        onProgress: (progress) => line.show(`${server}/${tool}: ${progressText(progress)}`),
      })
      line.end()
      finish(result, out, options)
    })
  },
})

// --- internal ---

/** `server/tool`, or `server:tool` as people say it. */
function partsOf(address: string): { server: string; tool: string } {
  const cut = address.search(/[/:]/)
  const [server, tool] = [address.slice(0, cut), address.slice(cut + 1)]
  if (cut > 0 && tool !== '') return { server, tool }
  throw new Fault('USAGE', `"${address}" names no tool`, {
    hint: `write server/tool; see what there is: busbar tools${cut < 0 && address !== '' ? ` ${address}` : ''}`,
  })
}

async function argumentsOf(
  { out }: Session,
  words: readonly string[],
  schema: Readonly<Record<string, unknown>>,
  options: CallOptions,
): Promise<Arguments> {
  const given = await readArguments(words, options['no-check'] ? {} : schema, {
    file: readText,
    input: readInput,
  })
  if (options['no-check']) return given
  const { errors, warnings } = checkArguments(given.values, schema)
  for (const warning of warnings) out.warn(warning)
  if (errors.length > 0)
    throw new Fault('USAGE', errors.join('; '), { hint: 'to send it as it is, add --no-check' })
  return given
}

/** Letters that are none would else be sent as others. */
async function readInput(): Promise<string> {
  const bytes = await buffer(process.stdin)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (error) {
    throw new Fault('USAGE', 'stdin cannot be sent: it is no text', {
      hint: 'give it as JSON in UTF-8',
      cause: error,
    })
  }
}

function readText(path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(path))
  } catch (error) {
    if (!(error instanceof Error)) throw error
    const why = error instanceof TypeError ? 'it is no text' : error.message
    throw new Fault('USAGE', `${path} cannot be sent: ${why}`, {
      hint: `to send the text itself, quote it as JSON: key:='"@${path}"'`,
      cause: error,
    })
  }
}

function finish(result: CallResult, out: Output, options: CallOptions): void {
  show(result, out, options)
  if (result.isError) process.exitCode = EXIT.toolError
}

function progressText({ progress, total, message }: Progress): string {
  const part = total === undefined ? String(progress) : `${progress} of ${total}`
  return message === undefined ? part : `${part}, ${message}`
}

function show(result: CallResult, out: Output, options: CallOptions): void {
  if (options.output !== undefined) {
    const binary = firstBinary(result.json())
    if (binary) {
      saveFile(options.output, binary.bytes, options)
      out.note(`wrote ${options.output} (${binary.type}, ${binary.bytes.length} bytes)`)
    } else out.warn(`nothing was written to ${options.output}: the result is text only`)
  }
  // On a pipe byte for byte; a terminal must not be acted on, and escapes leave the value as it is.
  if (out.json) out.raw(process.stdout.isTTY ? safeJson(result.bytes.toString('utf8')) : result.bytes)
  if (out.json) out.raw('\n')
  else out.answer({}, () => resultLines(result.json()))
}
