// Digests, through a module that is loaded at the first one: most commands need none, and it costs what reading a
// configuration does.

/** SHA-256 as hex. */
export function sha256(data: string | Uint8Array): string {
  return crypto().createHash('sha256').update(data).digest('hex')
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

function crypto(): typeof import('node:crypto') {
  return process.getBuiltinModule('node:crypto')
}
