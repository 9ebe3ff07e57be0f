// Digests, through a module that is loaded at the first one: most commands need none, and it costs what reading a
// configuration does.

import { closeSync, openSync, readSync } from 'node:fs'

/** SHA-256 as hex. */
export function sha256(data: string | Uint8Array): string {
  return crypto().createHash('sha256').update(data).digest('hex')
}

/** The same of a file, which may be larger than one wants in memory. */
export function fileDigest(path: string): string {
  const hash = crypto().createHash('sha256')
  const piece = Buffer.allocUnsafe(PIECE)
  const file = openSync(path, 'r')
  try {
    for (let size = readSync(file, piece); size > 0; size = readSync(file, piece))
      hash.update(piece.subarray(0, size))
  } finally {
    closeSync(file)
  }
  return hash.digest('hex')
}

/** HMAC-SHA-256 as hex. */
export function hmacSha256(key: string, text: string): string {
  return crypto().createHmac('sha256', key).update(text).digest('hex')
}

/** Random bytes as hex. */
export function randomHex(bytes: number): string {
  return crypto().randomBytes(bytes).toString('hex')
}

// --- internal ---

const PIECE = 1024 * 1024

function crypto(): typeof import('node:crypto') {
  return process.getBuiltinModule('node:crypto')
}
