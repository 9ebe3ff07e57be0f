// Several messages in one list, as version 2025-03-26 allowed.

/** Hands each message in a text over; what holds none, as it is. Nearly always it is one, for which nothing is made. */
export function eachMessage(bytes: Buffer, take: (message: Buffer) => void): void {
  const parts = bytes[0] === BRACE_OPEN ? undefined : messagesIn(bytes)
  if (parts === undefined || parts.length === 0) take(bytes)
  else for (const message of parts) take(message)
}

/**
 * The messages in a text. Version 2025-03-26 allowed several in a list; they are cut out as they stand, so that nothing
 * in them changes. What is no message shows when it is read.
 */
export function messagesIn(bytes: Buffer): Buffer[] {
  const start = bytes.findIndex((byte) => byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09)
  if (start < 0) return []
  if (bytes[start] !== BRACKET_OPEN) return [bytes]
  const parts: Buffer[] = []
  let depth = 0
  let from = start + 1
  let quoted = false
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at]
    if (quoted) {
      if (byte === BACKSLASH) at += 1
      else if (byte === QUOTE) quoted = false
    } else if (byte === QUOTE) quoted = true
    else if (byte === BRACKET_OPEN || byte === BRACE_OPEN) depth += 1
    else if (byte === BRACKET_CLOSE || byte === BRACE_CLOSE) depth -= 1
    if (quoted || depth > 1 || (byte !== COMMA && depth > 0)) continue
    const part = bytes.subarray(from, at)
    if (part.length > 0) parts.push(part)
    from = at + 1
    if (depth === 0) break
  }
  return parts
}

// --- internal ---

const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
const BRACKET_OPEN = 0x5b
const BRACKET_CLOSE = 0x5d
const BRACE_OPEN = 0x7b
const BRACE_CLOSE = 0x7d
