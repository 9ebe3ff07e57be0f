// A tool's result for people: text as text, everything else in one line each.

import { fromBase64 } from '../base/base64.ts'
import { Fault } from '../base/fault.ts'
import { isRecord } from '../base/record.ts'
import { oddPart, partsOf, type ToolResult } from '../call/result.ts'
import { safe } from './output.ts'

export interface Binary {
  readonly type: string
  readonly bytes: Buffer
}

export function resultLines(result: ToolResult): string[] {
  const content = partsOf(result.content)
  const lines = content.map((part) => safe(contentText(part)))
  const { structuredContent } = result
  const text = content.some((part) => isRecord(part) && part['type'] === 'text')
  // Servers repeat what is structured as text, for clients that know only that.
  if (structuredContent !== undefined && !text) lines.push(safe(JSON.stringify(structuredContent, null, 2)))
  return lines.length > 0 ? lines : ['(an empty result)']
}

/** The first content that is no text. */
export function firstBinary(result: ToolResult): Binary | undefined {
  for (const { type, data, mimeType, resource } of partsOf(result.content).filter(isRecord)) {
    if ((type === 'image' || type === 'audio') && typeof data === 'string')
      return { type: typeText(mimeType), bytes: bytesOf(data, type) }
    if (type === 'resource' && isRecord(resource) && typeof resource['blob'] === 'string')
      return { type: typeText(resource['mimeType']), bytes: bytesOf(resource['blob'], type) }
  }
  return undefined
}

// --- internal ---

function bytesOf(base64: string, type: string): Buffer {
  const bytes = fromBase64(base64)
  if (bytes !== undefined) return bytes
  throw new Fault('MESSAGE_INVALID', `the ${type} in the result is no base64`, {
    hint: 'see what it is: --json, without --output',
  })
}

function contentText(part: unknown): string {
  if (!isRecord(part)) return oddPart(part)
  const { type, text, data, mimeType, resource } = part
  switch (type) {
    case 'text':
      return typeof text === 'string' ? text : oddPart(part)
    case 'image':
    case 'audio':
      return `[${type} ${typeText(mimeType)} ${sizeOf(data)}]`
    case 'resource_link':
      return `[link ${[part['uri'], part['title'] ?? part['name'], mimeType].filter(isSaid).join(' ')}]`
    case 'resource':
      return isRecord(resource) ? resourceText(resource) : '[resource without content]'
    default:
      return typeof type === 'string'
        ? `[${type} of a kind that cannot be shown; see it with --json]`
        : oddPart(part)
  }
}

function resourceText({ uri, mimeType, text, blob }: Record<string, unknown>): string {
  const head = `[resource ${[uri, mimeType].filter(isSaid).join(' ')}`
  if (typeof text === 'string') return `${head}]\n${text}`
  return `${head} ${sizeOf(blob)}]`
}

function sizeOf(base64: unknown): string {
  const size = typeof base64 === 'string' ? Buffer.byteLength(base64, 'base64') : 0
  return `${size} bytes`
}

function isSaid(value: unknown): boolean {
  return typeof value === 'string' && value !== ''
}

function typeText(mimeType: unknown): string {
  return isSaid(mimeType) ? String(mimeType) : 'of no stated type'
}
