// Files as text: whether they are, and how much of them is read.

import type { FileHandle } from 'node:fs/promises'

/** Reads at most `limit` bytes from where a file begins. */
export async function readStart(handle: FileHandle, limit: number, signal: AbortSignal): Promise<Buffer> {
  const parts: Buffer[] = []
  for (let size = 0; size < limit; ) {
    signal.throwIfAborted()
    const part = Buffer.allocUnsafe(Math.min(CHUNK, limit - size))
    const { bytesRead } = await handle.read(part, 0, part.length, size)
    if (bytesRead === 0) break
    parts.push(part.subarray(0, bytesRead))
    size += bytesRead
  }
  return Buffer.concat(parts)
}

/** The text in some bytes; undefined when they are none. A letter that was cut at the end is left out. */
export function textIn(bytes: Buffer, whole: boolean): string | undefined {
  if (bytes.includes(0)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: !whole })
  } catch {
    return undefined
  }
}

// --- internal ---

const CHUNK = 256 * 1024
