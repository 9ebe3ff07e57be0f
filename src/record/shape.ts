// What arguments and results are made of, without what they say: names, types and sizes.

import { isHarmless } from '../base/harmless.ts'
import { isRecord } from '../base/record.ts'
import { isSecretValue, MASK, maskText } from '../base/redact.ts'

/** Arguments as `{"title":"string(12)","labels":["string(3)","…2"],"n":"number"}`. */
export function argumentsShape(text: string): string {
  const value = parsed(text)
  return value === undefined ? `"${text.length} characters"` : shapeOf(value, LEVELS)
}

/** A result as `{"content":["text(120)","image(3456)"],"structuredContent":{"id":"number"}}`. */
export function resultShape(source: Buffer | string): string {
  const value = source.length <= LONGEST ? parsed(source.toString()) : undefined
  if (!isRecord(value)) return `"${source.length} bytes"`
  const { content, ...rest } = value
  const parts = Array.isArray(content) ? [['content', listText(content.map(partText))] as const] : []
  const others = Object.entries(rest)
    .slice(0, MEMBERS)
    .map(([key, item]) => [key, item === true ? 'true' : shapeOf(item, LEVELS)] as const)
  return objectText([...parts, ...others])
}

// --- internal ---

/** Larger than this is not read for the sake of its shape. */
const LONGEST = 64 * 1024
const LEVELS = 6
const MEMBERS = 40

function parsed(text: string): unknown {
  if (text.length > LONGEST) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function shapeOf(value: unknown, levels: number): string {
  if (typeof value === 'string') return `"string(${value.length})"`
  if (Array.isArray(value)) {
    if (levels === 0) return `"list(${value.length})"`
    const first = value.length > 0 ? [shapeOf(value[0], levels - 1)] : []
    return `[${[...first, ...(value.length > 1 ? [`"…${value.length - 1}"`] : [])].join(',')}]`
  }
  if (!isRecord(value)) return `"${value === null ? 'null' : typeof value}"`
  const entries = Object.entries(value)
  if (levels === 0) return `"object(${entries.length})"`
  const shown = entries.slice(0, MEMBERS).map(([key, item]) => [key, shapeOf(item, levels - 1)] as const)
  return objectText(shown, entries.length - shown.length)
}

function partText(part: unknown): string {
  const { type, text, data, resource } = isRecord(part) ? part : {}
  const inner = isRecord(resource) ? (resource['text'] ?? resource['blob']) : undefined
  const size = [text, data, inner].find((it) => typeof it === 'string')
  const kind = typeof type === 'string' && /^\w{1,32}$/.test(type) ? type : 'part'
  return `"${kind}${typeof size === 'string' ? `(${size.length})` : ''}"`
}

function listText(items: readonly string[]): string {
  const more = items.length - MEMBERS
  return `[${[...items.slice(0, MEMBERS), ...(more > 0 ? [`"…${more}"`] : [])].join(',')}]`
}

function objectText(members: readonly (readonly [string, string])[], more = 0): string {
  const texts = members.map(([key, shape]) => `${JSON.stringify(nameOf(key))}:${shape}`)
  return `{${[...texts, ...(more > 0 ? [`"…":"${more}"`] : [])].join(',')}}`
}

/** A map may have keys for its keys. */
function nameOf(key: string): string {
  if (isHarmless(key)) return key
  const masked = maskText(key)
  return masked === key && isSecretValue(key) ? MASK : masked
}
