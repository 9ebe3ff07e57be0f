// `x-mcp-header`: arguments that a modern server wants repeated in headers, so that what stands before it can route by
// them without reading the body.

import { isRecord } from '../base/record.ts'

export interface ParamHeader {
  /** Without the `Mcp-Param-` before it. */
  readonly header: string
  /** Where the argument stands. */
  readonly path: readonly string[]
}

/** The headers a tool's schema asks for, or why it asks wrongly: such a tool must not be offered. */
export function paramHeaders(schema: unknown): readonly ParamHeader[] | string {
  const found: ParamHeader[] = []
  const reason = collect(schema, [], found, true)
  if (reason !== undefined) return reason
  const names = new Set(found.map(({ header }) => header.toLowerCase()))
  return names.size === found.length ? found : 'names a header twice in x-mcp-header'
}

/** The headers for these arguments. An argument that is absent or null has none. */
export function paramHeaderValues(
  headers: readonly ParamHeader[],
  args: unknown,
): Record<string, string> | undefined {
  if (headers.length === 0) return undefined
  const values: Record<string, string> = {}
  for (const { header, path } of headers) {
    const value = path.reduce<unknown>(
      (at, key) => (isRecord(at) && Object.hasOwn(at, key) ? at[key] : undefined),
      args,
    )
    if (value === undefined || value === null || typeof value === 'object') continue
    // Its digits are lost already, and a header that says something else than the body is worse than none.
    if (typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER) continue
    values[`Mcp-Param-${header}`] = encodeHeader(String(value))
  }
  return values
}

/** As it stands where a header can carry it, else in base64 with a wrapper that says so. */
export function encodeHeader(text: string): string {
  return /^(?:[!-~](?:[ -~]*[!-~])?)?$/.test(text) && !isWrapped(text)
    ? text
    : `=?base64?${Buffer.from(text).toString('base64')}?=`
}

/** What a header means; undefined when its base64 is broken. */
export function decodeHeader(text: string): string | undefined {
  if (!isWrapped(text)) return text
  const inner = text.slice(WRAP.length, -2)
  if (inner.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(inner)) return undefined
  return Buffer.from(inner, 'base64').toString('utf8')
}

// --- internal ---

const WRAP = '=?base64?'
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const CARRIED: ReadonlySet<unknown> = new Set(['string', 'integer', 'boolean'])

function isWrapped(text: string): boolean {
  return text.startsWith(WRAP) && text.endsWith('?=') && text.length >= WRAP.length + 2
}

/** `reachable`: through `properties` alone. An annotation anywhere else has no argument that it could mean. */
function collect(
  schema: unknown,
  path: readonly string[],
  found: ParamHeader[],
  reachable: boolean,
): string | undefined {
  if (Array.isArray(schema)) return first(schema, (part) => collect(part, path, found, false))
  if (!isRecord(schema)) return undefined
  const header = schema['x-mcp-header']
  // At the top level it would be about all arguments together.
  if (header !== undefined) {
    if (typeof header !== 'string' || !HEADER_NAME.test(header))
      return 'has an x-mcp-header that is no header'
    if (!reachable || path.length === 0) return 'has x-mcp-header where no single argument stands'
    if (!CARRIED.has(schema['type'])) return 'has x-mcp-header on what is no text, integer or boolean'
    found.push({ header, path })
  }
  return first(Object.entries(schema), ([key, part]) => {
    if (key === 'properties' && isRecord(part))
      return first(Object.entries(part), ([name, property]) =>
        collect(property, [...path, name], found, reachable),
      )
    // Values of these are data, not schemas.
    if (key === 'default' || key === 'const' || key === 'enum' || key === 'examples') return undefined
    return collect(part, path, found, false)
  })
}

function first<T>(items: Iterable<T>, check: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const reason = check(item)
    if (reason !== undefined) return reason
  }
  return undefined
}
