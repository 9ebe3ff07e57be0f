// `busbar read SERVER URI`: the contents of a resource.

import { fromBase64 } from '../../base/base64.ts'
import { Fault } from '../../base/fault.ts'
import { isRecord } from '../../base/record.ts'
import { command } from '../command.ts'
import { safe } from '../output.ts'
import { checkOutput, saveFile } from '../save-file.ts'
import { withServers } from '../servers.ts'

export const spec = command({
  summary: 'read a resource',
  words: '<server> <uri>',
  options: {
    output: { short: 'o', value: 'file', about: 'write it to this file' },
    force: { about: 'replace that file if it exists' },
    agent: { value: 'name', about: 'as this agent, with what it may use' },
  },
  help: `
Text goes to stdout; what is no text goes to a file or a pipe, byte for byte. Asks the running gateway where it follows the
same configuration; else the server is started for this, and ended again.

Examples:
  busbar read docs docs://intro
  busbar read camera camera://front --output front.jpg
  busbar read docs docs://intro --json`,
  run: async (session, [server = '', uri = ''], options) => {
    const { out } = session
    checkOutput(options)
    const loaded = await session.load({ warnings: false })
    const result = await withServers(session, loaded, (servers) =>
      servers.read({ agent: options.agent, server, uri }),
    )
    const contents = contentsOf(result, server)
    const { output } = options
    if (output !== undefined) saveFile(output, bytesOf(contents, server), options)
    if (out.json) out.answer(result, () => '')
    else if (output === undefined) print(contents, server, (data) => out.raw(data))
    else out.note(`wrote ${output}`)
  },
})

// --- internal ---

type Content = Readonly<Record<string, unknown>>

function contentsOf(result: Readonly<Record<string, unknown>>, server: string): Content[] {
  const contents = Array.isArray(result['contents']) ? result['contents'].filter(isRecord) : []
  if (contents.length > 0) return contents
  throw new Fault('MESSAGE_INVALID', `${server} answered without contents`, { server })
}

function bytesOf(contents: readonly Content[], server: string): Buffer {
  return Buffer.concat(
    contents.map(({ text, blob, uri }) => {
      if (typeof text === 'string') return Buffer.from(text)
      const bytes = fromBase64(blob)
      if (bytes !== undefined) return bytes
      throw new Fault('MESSAGE_INVALID', `${server} gives ${uri} as something that is no base64`, {
        hint: 'see what it gives: --json',
        server,
      })
    }),
  )
}

function print(
  contents: readonly Content[],
  server: string,
  write: (data: string | Uint8Array) => void,
): void {
  if (!process.stdout.isTTY) {
    write(bytesOf(contents, server))
    return
  }
  const binary = contents.find(({ text }) => typeof text !== 'string')
  if (binary)
    throw new Fault('USAGE', `${binary['uri']} is no text (${binary['mimeType'] ?? 'of no stated type'})`, {
      hint: 'write it to a file: --output FILE',
    })
  for (const { text } of contents) write(`${safe(String(text))}\n`)
}
