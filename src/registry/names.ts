// Names under which a model sees the tools of servers: safe for every provider, never two tools under one.

import { sha256 } from '../base/digest.ts'

/** How server (`s`) and tool (`t`) are written together. */
export const NAMING_SCHEMES = ['mcp__s__t', 'mcp_s_t', 's__t', 's_t'] as const
export type NamingScheme = (typeof NAMING_SCHEMES)[number]

/** Busbar's own tools, whose names no server's tool may take. */
export const OWN_NAMES: ReadonlySet<string> = new Set([
  'read_file',
  'write_file',
  'grep',
  'terminal',
  'respond',
  'await_energy',
  'select_conversation',
  'think',
  'end_conversation',
  'snooze_conversation',
  'mcp_request_server_addition',
  'mcp_check_subagent_status',
  'mcp_cancel_subagent_work',
  'mcp_list_available_tools',
  'ListMcpResources',
  'ReadMcpResource',
  'search_tools',
  'describe_tool',
  'call_tool',
  'read_result',
])

/**
 * The name of a server's tool. It depends on the pair alone, so a further server never renames an existing tool;
 * only `reserved` (native names beside our own) can force the form with a suffix.
 */
export function projectedName(
  scheme: NamingScheme,
  server: string,
  tool: string,
  reserved?: ReadonlySet<string>,
): string {
  const plain = plainName(scheme, server, tool)
  if (plain !== undefined && !reserved?.has(plain)) return plain
  const stem = stemOf(scheme, server, tool)
  for (let attempt = 0; ; attempt++) {
    // JSON keeps the two apart whatever they contain, lone surrogates included.
    const digest = sha256(JSON.stringify(attempt === 0 ? [server, tool] : [server, tool, attempt]))
    const name = `${stem}_${digest.slice(0, SUFFIX_LENGTH)}`
    if (!reserved?.has(name)) return name
  }
}

/** The pair a name without suffix stands for, found without any catalog; undefined for all other names. */
export function pairOf(scheme: NamingScheme, name: string): { server: string; tool: string } | undefined {
  const { prefix, separator } = PARTS[scheme]
  if (!name.startsWith(prefix)) return undefined
  const rest = name.slice(prefix.length)
  const at = rest.indexOf(separator)
  if (at < 0) return undefined
  const pair = { server: rest.slice(0, at), tool: rest.slice(at + separator.length) }
  return plainName(scheme, pair.server, pair.tool) === name ? pair : undefined
}

/** `server:tool`, for people. */
export function displayName(server: string, tool: string): string {
  return `${server}:${tool}`
}

/** Why a native tool cannot have this name, or undefined. */
export function nativeNameProblem(name: string): string | undefined {
  if (name === '') return 'is empty'
  if (name.length > MAX_LENGTH) return `is longer than ${MAX_LENGTH} characters`
  return SAFE.test(name) ? undefined : 'has characters other than letters, digits, _ and -'
}

// --- internal ---

const MAX_LENGTH = 64
const SUFFIX_LENGTH = 10
const SAFE = /^[A-Za-z0-9_-]+$/
// Hexadecimal, because hardly any word is spelled with a–f alone: few plain names look like this by chance.
const SUFFIXED = /_[0-9a-f]{10}$/
/** Gemini wants a letter or an underscore first. */
const BEGINS_WELL = /^[A-Za-z_]/
/** In a shortened name the server leaves at least this much to the tool. */
const MIN_TOOL = 28

const PARTS: Record<NamingScheme, { readonly prefix: string; readonly separator: string }> = {
  mcp__s__t: { prefix: 'mcp__', separator: '__' },
  mcp_s_t: { prefix: 'mcp_', separator: '_' },
  s__t: { prefix: '', separator: '__' },
  s_t: { prefix: '', separator: '_' },
}

/**
 * The name without suffix, where it can be had. A name is read by splitting it at its first separator, so at most one
 * pair is ever read from it; a server that would be split elsewhere (`a_b` at `_`, `a_` at `__`) has no plain names.
 */
function plainName(scheme: NamingScheme, server: string, tool: string): string | undefined {
  const { prefix, separator } = PARTS[scheme]
  // Before anything is put together, as a name may be megabytes long.
  if (server.length + tool.length > MAX_LENGTH || !SAFE.test(server) || !SAFE.test(tool)) return undefined
  const both = server + separator + tool
  if (both.indexOf(separator) !== server.length) return undefined
  const name = prefix + both
  const usable =
    name.length <= MAX_LENGTH && BEGINS_WELL.test(name) && !SUFFIXED.test(name) && !OWN_NAMES.has(name)
  return usable ? name : undefined
}

/** What can be kept of both for reading; the suffix tells them apart. */
function stemOf(scheme: NamingScheme, server: string, tool: string): string {
  const { prefix, separator } = PARTS[scheme]
  const room = MAX_LENGTH - SUFFIX_LENGTH - 1 - prefix.length - separator.length
  const toolWords = readable(tool) || 'tool'
  const allServer = readable(server) || 'server'
  const begun = prefix === '' && !BEGINS_WELL.test(allServer) ? `_${allServer}` : allServer
  const serverWords = begun.slice(0, Math.max(room - MIN_TOOL, room - toolWords.length)).replace(/[_-]+$/, '')
  return (
    prefix + serverWords + separator + toolWords.slice(0, room - serverWords.length).replace(/[_-]+$/, '')
  )
}

function readable(part: string): string {
  return part
    .slice(0, 2 * MAX_LENGTH)
    .normalize('NFKD')
    .replace(/\p{Mn}+/gu, '')
    .replace(/[^A-Za-z0-9-]+/g, '_')
    .replace(/^[_-]+|[_-]+$/g, '')
}
