// A server as typed on the command line, checked before anything is written.

import { Fault } from '../base/fault.ts'
import { isSecretName, isSecretValue } from '../base/redact.ts'
import { nearest } from '../base/suggest.ts'
import { textLayer } from '../config/layer.ts'
import { problemLine } from '../config/problem.ts'
import { NAME, NAME_RULE } from '../config/schema-values.ts'
import { checkComplete } from '../config/validate.ts'
import type { Output } from './output.ts'

export type NewServer = Record<string, unknown>

export interface TypedOptions {
  readonly transport?: string
  readonly env?: readonly string[]
  readonly header?: readonly string[]
  readonly cwd?: string
  readonly description?: string
  readonly category?: string
}

const TYPES = new Map([
  ['stdio', 'stdio'],
  ['http', 'http'],
  ['streamable-http', 'http'],
  ['sse', 'sse'],
  ['websocket', 'websocket'],
  ['ws', 'websocket'],
])

/** A name that is fit for addresses, files and prompts. */
export function checkNewName(name: string, what: 'server' | 'agent'): void {
  if (NAME.test(name)) return
  throw new Fault('USAGE', `"${name}" is not a usable ${what} name`, { hint: `use ${NAME_RULE}` })
}

/** The entry for `add NAME … (URL | -- COMMAND ARGS…)`. */
export function typedServer(words: readonly string[], options: TypedOptions): NewServer {
  const [first = '', ...rest] = words
  const type = options.transport === undefined ? undefined : typeNamed(options.transport)
  const isUrl = /^[a-z][a-z0-9+.-]*:\/\//i.test(first)
  const entry: NewServer = {}
  if (isUrl || (type !== undefined && type !== 'stdio')) {
    if (type === 'stdio') throw new Fault('USAGE', `-t stdio starts a program, and ${first} is a URL`)
    if (rest.length > 0)
      throw new Fault('USAGE', `a URL takes no further words, and there are: ${rest.join(' ')}`)
    if (options.cwd !== undefined) throw new Fault('USAGE', '--cwd is for servers that are started')
    const remote = type ?? (/^wss?:/i.test(first) ? 'websocket' : 'http')
    Object.assign(entry, remote === 'http' ? {} : { type: remote }, { url: first })
  } else {
    if (rest.length === 0 && /^[\w.-]+:\d+(?:\/|$)/.test(first))
      throw new Fault('USAGE', `"${first}" looks like an address without its beginning`, {
        hint: `write: busbar add NAME http://${first}`,
      })
    if (rest.length === 0 && /\s/.test(first) && !first.includes('/'))
      throw new Fault('USAGE', `"${first}" is one word with spaces; Busbar runs no shell`, {
        hint: `write: busbar add NAME -- ${first}`,
      })
    if (options.header) throw new Fault('USAGE', '-H is for servers with a URL')
    Object.assign(entry, { command: first }, rest.length > 0 ? { args: rest } : {})
  }
  const env = pairs(options.env ?? [], /^([^=]+)(?:=([\s\S]*))?$/, '-e', 'NAME=value or NAME')
  if (Object.keys(env).length > 0) entry['env'] = env
  const headers = pairs(options.header ?? [], /^([^:]+):\s*([\s\S]*)$/, '-H', '"Name: value"')
  if (Object.keys(headers).length > 0) entry['headers'] = headers
  for (const key of ['cwd', 'description', 'category'] as const) if (options[key]) entry[key] = options[key]
  return entry
}

/** Refuses an entry that would be a problem as soon as it is read back. */
export function checkNewServer(name: string, entry: NewServer): void {
  const { layer, problems } = textLayer(
    'the new server',
    'flag',
    JSON.stringify({ servers: { [name]: entry } }),
    { root: process.cwd(), home: '', env: {} },
  )
  const [first] = problems
  if (first) throw new Fault('USAGE', problemLine(first), { server: name })
  if (!layer) throw new Fault('USAGE', 'the new server was not understood', { server: name })
  const [incomplete] = checkComplete(layer.tree, name)
  if (incomplete) throw new Fault('USAGE', problemLine(incomplete), { server: name })
}

/** A literal that looks like a secret is written as asked, with the better way named. */
export function warnSecrets(entry: NewServer, out: Output): void {
  const look = (values: unknown, flag: (name: string) => string) => {
    for (const [name, value] of Object.entries(Object(values)))
      if (typeof value === 'string' && !value.includes('${') && (isSecretName(name) || isSecretValue(value)))
        out.warn(`the value of ${name} looks like a secret and will stand in the file; better: ${flag(name)}`)
  }
  look(
    entry['env'],
    (name) =>
      `export ${name}=… and write -e ${name}, or busbar secrets set ${name} and write -e '${name}=\${secret:${name}}'`,
  )
  look(entry['headers'], (name) => `busbar secrets set NAME, and write -H '${name}: \${secret:NAME}'`)
}

// --- internal ---

function typeNamed(text: string): string {
  const type = TYPES.get(text.toLowerCase())
  if (type) return type
  const near = nearest(text, TYPES.keys())
  throw new Fault('USAGE', `-t is "${text}"; expected stdio, http, sse or websocket`, {
    hint: near ? `did you mean "${near}"?` : 'a URL without -t is http',
  })
}

function pairs(words: readonly string[], form: RegExp, flag: string, wanted: string): Record<string, string> {
  const found: Record<string, string> = {}
  for (const word of words) {
    const [, name, value] = form.exec(word) ?? []
    if (!name || (flag === '-e' && !/^[A-Za-z_]\w*$/.test(name)))
      throw new Fault(
        'USAGE',
        `${flag} ${JSON.stringify(word.slice(0, Math.max(word.search(/[=:]/), 0)) || '…')} was not understood`,
        {
          hint: `write ${flag} ${wanted}`,
        },
      )
    // A name alone is taken from the environment when the server starts.
    found[name.trim()] = value ?? `\${${name}}`
  }
  return found
}
