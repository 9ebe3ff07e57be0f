// What an answer over http holds, seen from outside: whose it is, and whether it is several.

import { idOfCut, quickResult } from '../../wire/ends.ts'
import { type Id, readMessage } from '../../wire/message.ts'
import { scanHead } from '../../wire/scan.ts'

/** The id a reply answers to; undefined for requests and notifications. Reads no more than the ends where it can. */
export function replyIdOf(bytes: Buffer): Id | undefined {
  const quick = quickResult(bytes)
  if (quick !== undefined) return quick.id
  const head = bytes.subarray(0, HEAD)
  let id: Id | undefined
  for (const { key, start, end } of scanHead(head)) {
    if (key === 'method') return undefined
    if (key === 'id') id = JSON.parse(head.toString('latin1', start, end)) as Id
    else if (key === 'result' || key === 'error') {
      const found = id ?? idOfCut(head, bytes)
      if (found !== undefined) return found
    }
  }
  const message = readMessage(bytes)
  return message.kind === 'result' || message.kind === 'error' ? message.id : undefined
}

/** Whether a reply with `found` is the one to `id`. Some servers send ids back as text. */
export function isSameId(found: Id | undefined, id: number | undefined): boolean {
  return found === id || (typeof found === 'string' && found === String(id))
}

/**
 * The messages in a body. Version 2025-03-26 allowed several in a list; they are cut out as they stand, so that nothing
 * in them changes. What is no message shows when it is read.
 */
export function messagesIn(body: Buffer): Buffer[] {
  const start = body.findIndex((byte) => byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09)
  if (start < 0) return []
  if (body[start] !== BRACKET_OPEN) return [body]
  const parts: Buffer[] = []
  let depth = 0
  let from = start + 1
  let quoted = false
  for (let at = start; at < body.length; at++) {
    const byte = body[at]
    if (quoted) {
      if (byte === BACKSLASH) at += 1
      else if (byte === QUOTE) quoted = false
    } else if (byte === QUOTE) quoted = true
    else if (byte === BRACKET_OPEN || byte === BRACE_OPEN) depth += 1
    else if (byte === BRACKET_CLOSE || byte === BRACE_CLOSE) depth -= 1
    if (quoted || depth > 1 || (byte !== COMMA && depth > 0)) continue
    const part = body.subarray(from, at)
    if (part.length > 0) parts.push(part)
    from = at + 1
    if (depth === 0) break
  }
  return parts
}

// --- internal ---

const HEAD = 512
const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
const BRACKET_OPEN = 0x5b
const BRACKET_CLOSE = 0x5d
const BRACE_OPEN = 0x7b
const BRACE_CLOSE = 0x7d
