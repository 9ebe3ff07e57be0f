// Parameters as text, with `_meta` put in where an era asks for it and everything else left as it was written.

import { type Implementation, META, MODERN_VERSION, NAMED_BY } from './era.ts'
import { parseSlice } from './message.ts'
import { type Member, scanObject } from './scan.ts'

/** What the modern era wants in every request, once for a connection. */
export function modernMeta(client: Implementation, capabilities: object): Record<string, unknown> {
  return { [META.version]: MODERN_VERSION, [META.client]: client, [META.capabilities]: capabilities }
}

/** The parameters with these entries in `_meta`, over what stands there already. */
export function paramsText(
  params: Readonly<Record<string, unknown>> | undefined,
  meta: Readonly<Record<string, unknown>> | undefined,
): string | undefined {
  if (meta === undefined) return params && JSON.stringify(params)
  return JSON.stringify({ ...params, _meta: { ...(params?.['_meta'] as object | undefined), ...meta } })
}

export interface RawParams {
  readonly bytes: Buffer
  readonly members: readonly Member[]
  readonly meta: Readonly<Record<string, unknown>> | undefined
}

/** Reads parameters that came as bytes; a text says what is wrong with them. */
export function readParams(bytes: Buffer | undefined): RawParams | string {
  if (bytes === undefined) return { bytes: EMPTY, members: [], meta: undefined }
  const scan = scanObject(bytes)
  if (!scan.ok) return scan.reason === 'members' ? 'params has too many members' : 'params must be an object'
  const keys = new Set(scan.members.map(({ key }) => key))
  // What is decided on must be what the server reads, whichever of two it takes.
  if (keys.size !== scan.members.length) return 'params has a key twice'
  const at = scan.members.find(({ key }) => key === '_meta')
  const meta = at && parseSlice(bytes, at)
  if (at !== undefined && (typeof meta !== 'object' || meta === null || Array.isArray(meta)))
    return 'params._meta must be an object'
  return { bytes, members: scan.members, meta: meta as RawParams['meta'] }
}

/** One parameter's value; undefined when it is absent. */
export function param(params: RawParams, key: string): unknown {
  const member = params.members.find((it) => it.key === key)
  return member && parseSlice(params.bytes, member)
}

/** What a request is about, which modern requests repeat in a header; undefined of others, and of what is no text. */
export function nameIn(method: string, params: RawParams): string | undefined {
  const key = Object.hasOwn(NAMED_BY, method) ? NAMED_BY[method] : undefined
  const value = key && param(params, key)
  return typeof value === 'string' ? value : undefined
}

/** The same parameters with another `_meta` (undefined: without); every other byte stays. */
export function withMeta({ bytes, members }: RawParams, meta: object | undefined): string {
  const kept = members
    .filter(({ key }) => key !== '_meta')
    .map(({ key, start, end }) => `${JSON.stringify(key)}:${bytes.toString('utf8', start, end)}`)
  if (meta !== undefined) kept.push(`"_meta":${JSON.stringify(meta)}`)
  return `{${kept.join(',')}}`
}

/** The same parameters with these, given as JSON text, in the place of those of the same names. */
export function withTexts(
  { bytes, members, meta }: RawParams,
  texts: Readonly<Record<string, string>>,
): RawParams {
  const kept = members
    .filter(({ key }) => !Object.hasOwn(texts, key))
    .map(({ key, start, end }) => `${JSON.stringify(key)}:${bytes.toString('utf8', start, end)}`)
  const given = Object.entries(texts).map(([key, text]) => `${JSON.stringify(key)}:${text}`)
  const read = readParams(Buffer.from(`{${[...kept, ...given].join(',')}}`))
  return typeof read === 'string' ? { bytes, members, meta } : read
}

/** The same parameters without some. */
export function withoutParams({ bytes, members }: RawParams, keys: ReadonlySet<string>): string {
  const kept = members
    .filter(({ key }) => !keys.has(key))
    .map(({ key, start, end }) => `${JSON.stringify(key)}:${bytes.toString('utf8', start, end)}`)
  return `{${kept.join(',')}}`
}

/** The same parameters with another value of one that is there; every other byte stays. */
export function withParam(params: RawParams, key: string, value: unknown): RawParams {
  return withParamText(params, key, Buffer.from(JSON.stringify(value)))
}

/** The same with a value that is JSON already. */
export function withParamText(params: RawParams, key: string, text: Buffer): RawParams {
  const { bytes, members, meta } = params
  const at = members.find((member) => member.key === key)
  if (at === undefined) return params
  const shift = text.length - (at.end - at.start)
  return {
    bytes: Buffer.concat([bytes.subarray(0, at.start), text, bytes.subarray(at.end)]),
    members: members.map((member) => {
      if (member.start < at.start) return member
      return { ...member, start: member === at ? at.start : member.start + shift, end: member.end + shift }
    }),
    meta,
  }
}

// --- internal ---

const EMPTY = Buffer.from('{}')
