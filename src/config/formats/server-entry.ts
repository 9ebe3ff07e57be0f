// One server entry of any format, turned into the native shape. The clients agree on most keys and differ in the rest;
// the table of differences is here, so a new client is a few words rather than a reader of its own.

import { isRecord } from '../../base/record.ts'
import { nearest } from '../../base/suggest.ts'
import type { Path } from '../edit/change.ts'
import { Entry, type EntryPlace } from './entry.ts'
import { readApproval, readTimeouts, readTools } from './server-extras.ts'

const TYPES = new Set(['stdio', 'http', 'sse', 'websocket', 'sdk', 'claudeai-proxy'])
const TYPE_ALIASES = new Map(
  Object.entries({
    local: 'stdio',
    remote: 'http',
    'streamable-http': 'http',
    streamable_http: 'http',
    streamablehttp: 'http',
    'http-stream': 'http',
    ws: 'websocket',
  }),
)

/** Keys whose meaning is the same everywhere. */
const COMMON_KEYS = ['cwd', 'description', 'category', 'envFile'] as const
/** Keys of the native format; in another tool's file the same word may mean something else. */
const NATIVE_KEYS = [
  'approval',
  'id',
  'prefix',
  'price',
  'sandbox',
  'share',
  'start',
  'timeouts',
  'tools',
  'trustAnnotations',
] as const

/** Puts the entry `raw` at its place in the native shape. */
export function readServerEntry(raw: unknown, place: EntryPlace): void {
  const { shape, target, from, traits } = place
  if (!isRecord(raw)) {
    shape.put(target, raw, from)
    return
  }
  shape.put(target, {}, from)
  const entry = new Entry(raw, place)
  readCommand(entry)
  readEnvironment(entry)
  readAddress(entry)
  readHeaders(entry)
  readEnabled(entry)
  readTimeouts(entry)
  readTools(entry)
  readApproval(entry)
  readAuth(entry)
  for (const key of [...COMMON_KEYS, ...(traits.strict ? NATIVE_KEYS : [])]) {
    const found = entry.take(key)
    if (found) entry.put([key], found.value, key)
  }
  const unknown = traits.strict ? entry.rest : entry.rest.filter((key) => isTypo(key, raw))
  // The schema names what it does not know, and suggests.
  for (const key of unknown) entry.put([key], raw[key], key)
}

// --- internal ---

/** In another tool's file an unknown key is its own business, unless it looks like the one that is missing. */
function isTypo(key: string, raw: Readonly<Record<string, unknown>>): boolean {
  const main = ['command', 'cmd', 'url', 'uri', 'serverUrl', 'httpUrl']
  return (
    !main.some((known) => known in raw) &&
    nearest(key, ['command', 'url', 'serverUrl', 'httpUrl']) !== undefined
  )
}

function readCommand(entry: Entry): void {
  const found = entry.take('command', 'cmd')
  const args: { value: unknown; from: Path }[] = []
  if (found) {
    const { key, value } = found
    if (Array.isArray(value)) {
      if (value.length > 0) entry.put(['command'], value[0], key, 0)
      value.slice(1).forEach((item, index) => {
        args.push({ value: item, from: [key, index + 1] })
      })
    } else if (isRecord(value)) {
      // Zed's older form: { command: { path, args, env } }.
      entry.put(['command'], value['path'], key, 'path')
      if (Array.isArray(value['args']))
        value['args'].forEach((item, index) => {
          args.push({ value: item, from: [key, 'args', index] })
        })
      putMap(entry, ['env'], value['env'], [key, 'env'])
    } else entry.put(['command'], value, key)
  }
  const given = entry.take('args', 'arguments')
  if (given && !Array.isArray(given.value)) {
    entry.put(['args'], given.value, given.key)
    return
  }
  if (given && Array.isArray(given.value))
    given.value.forEach((item, index) => {
      args.push({ value: item, from: [given.key, index] })
    })
  if (args.length === 0) {
    if (given) entry.put(['args'], [], given.key)
    return
  }
  entry.put(['args'], [], ...(given ? [given.key] : (args[0]?.from.slice(0, 1) ?? [])))
  args.forEach(({ value, from }, index) => {
    entry.put(['args', index], entry.typed(value, from), ...from)
  })
}

function readEnvironment(entry: Entry): void {
  const found = entry.take('env', 'envs', 'environment')
  if (found) putMap(entry, ['env'], found.value, [found.key])
  // Codex and Goose name variables to pass on instead of writing templates.
  const named = entry.take('env_vars', 'env_keys')
  // Of a remote server they only fill in its headers.
  const starts = ['command', 'cmd'].some((key) => key in entry.raw)
  if (named && starts && Array.isArray(named.value))
    named.value.forEach((item, index) => {
      const name = isRecord(item) ? item['name'] : item
      if (typeof name === 'string') entry.put(['env', name], `\${${name}}`, named.key, index)
    })
}

function readAddress(entry: Entry): void {
  const typeGiven = entry.take('type', 'transport', 'transportType')
  const streaming = entry.take('httpUrl', 'serverUrl')
  const plain = entry.take('url', 'uri')
  const address = streaming ?? plain
  if (address) entry.put(['url'], address.value, address.key)
  if (typeGiven) {
    const { key, value } = typeGiven
    const word = typeof value === 'string' ? value.toLowerCase() : undefined
    entry.put(
      ['type'],
      word === undefined ? value : (TYPE_ALIASES.get(word) ?? (TYPES.has(word) ? word : value)),
      key,
    )
    return
  }
  if (!address) return
  if (typeof address.value === 'string' && /^wss?:/i.test(address.value))
    entry.put(['type'], 'websocket', address.key)
  else if (plain && !streaming && entry.traits.urlMeans === 'sse') entry.put(['type'], 'sse', address.key)
}

function readHeaders(entry: Entry): void {
  const found = entry.take('headers', 'http_headers')
  if (found) putMap(entry, ['headers'], found.value, [found.key])
  const named = entry.take('env_http_headers')
  if (named && isRecord(named.value))
    for (const [header, name] of Object.entries(named.value))
      if (typeof name === 'string') entry.put(['headers', header], `\${${name}}`, named.key, header)
  const bearer = entry.take('bearer_token_env_var')
  if (bearer) entry.put(['headers', 'Authorization'], `Bearer \${${String(bearer.value)}}`, bearer.key)
  const token = entry.take('bearer_token')
  if (token && !bearer) entry.put(['headers', 'Authorization'], `Bearer ${String(token.value)}`, token.key)
}

function readEnabled(entry: Entry): void {
  const enabled = entry.take('enabled')
  const disabled = entry.take('disabled')
  if (enabled) entry.put(['enabled'], enabled.value, enabled.key)
  if (disabled) {
    const value = typeof disabled.value === 'boolean' ? !disabled.value : disabled.value
    // Where a file has both, off wins: starting less is the safer reading.
    if (value !== true || !enabled) entry.put(['enabled'], value, disabled.key)
  }
}

function readAuth(entry: Entry): void {
  const auth = entry.take('auth')
  if (auth && isRecord(auth.value) && 'type' in auth.value) {
    entry.put(['auth'], {}, auth.key)
    for (const [key, value] of Object.entries(auth.value)) entry.put(['auth', key], value, auth.key, key)
    return
  }
  if (auth && entry.traits.strict) {
    const known = typeof auth.value === 'string' && ['none', 'oauth'].includes(auth.value)
    entry.put(['auth'], known ? { type: auth.value } : auth.value, auth.key)
    return
  }
  const oauth = entry.take('oauth', 'requiresOAuth')
  if (!oauth || oauth.value === false) return
  if (isRecord(oauth.value) && oauth.value['enabled'] === false) return
  entry.put(['auth'], { type: 'oauth' }, oauth.key)
  if (!isRecord(oauth.value)) return
  const names: [string, string][] = [
    ['clientId', 'clientId'],
    ['client_id', 'clientId'],
    ['clientSecret', 'clientSecret'],
    ['client_secret', 'clientSecret'],
    ['authorizationUrl', 'authUrl'],
    ['authorization_url', 'authUrl'],
    ['tokenUrl', 'tokenUrl'],
    ['token_url', 'tokenUrl'],
  ]
  for (const [theirs, ours] of names)
    if (typeof oauth.value[theirs] === 'string')
      entry.put(['auth', ours], oauth.value[theirs], oauth.key, theirs)
}

function putMap(entry: Entry, target: Path, value: unknown, from: Path): void {
  if (value === undefined || value === null) return
  if (!isRecord(value)) {
    entry.put(target, value, ...from)
    return
  }
  entry.put(target, {}, ...from)
  // VS Code writes null to leave a variable out.
  for (const [key, item] of Object.entries(value))
    if (item !== null || entry.traits.strict)
      entry.put([...target, key], entry.typed(item, [...from, key]), ...from, key)
}
