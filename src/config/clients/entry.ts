// What an entry in a client's file says about us, in whichever client's words.

import { isRecord } from '../../base/record.ts'

/** An entry that leads to Busbar. */
export interface OwnEntry {
  readonly kind: 'http' | 'stdio'
  readonly url?: string
  readonly command?: string
  readonly args?: readonly string[]
  readonly env: Readonly<Record<string, unknown>>
  readonly token?: string
}

/** Reads an entry; undefined when it does not lead to Busbar at all. */
export function readOwnEntry(entry: unknown): OwnEntry | undefined {
  if (!isRecord(entry)) return undefined
  const { headers = entry['http_headers'] } = entry
  const url = ['url', 'serverUrl', 'httpUrl', 'uri'].map((key) => entry[key]).find(isText)
  if (url !== undefined) {
    const token = bearerOf(headers)
    return isEndpoint(url) ? { kind: 'http', url, env: {}, ...(token ? { token } : {}) } : undefined
  }
  const { command = entry['cmd'], args = [] } = entry
  const [program, ...rest] = [command, args].flat()
  const words = rest.filter(isText)
  if (!isText(program) || !words.includes('serve') || !words.includes('--stdio')) return undefined
  const env = ['env', 'envs', 'environment'].map((key) => entry[key]).find(isRecord) ?? {}
  const token = env['BUSBAR_TOKEN']
  if (!isText(token)) return undefined
  return { kind: 'stdio', command: program, args: words, env, token }
}

/** Whether a server that another tool knows is Busbar itself: to take it over would be to call ourselves. */
export function leadsToUs(definition: unknown): boolean {
  return readOwnEntry(definition)?.token?.startsWith('busbar_') === true
}

// --- internal ---

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

/** `…/mcp` or `…/mcp/SERVER`. */
function isEndpoint(url: string): boolean {
  return URL.canParse(url) && /\/mcp(?:\/[^/]+)?\/?$/.test(new URL(url).pathname)
}

function bearerOf(headers: unknown): string | undefined {
  if (!isRecord(headers)) return undefined
  const [, value] = Object.entries(headers).find(([name]) => /^authorization$/i.test(name)) ?? []
  return isText(value) ? /^Bearer +(\S+)$/i.exec(value)?.[1] : undefined
}
