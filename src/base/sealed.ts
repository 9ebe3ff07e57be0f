// Something that a client carries for us and gives back: readable by anybody, made by nobody else.

import { createHmac, timingSafeEqual } from 'node:crypto'

/** A key of its own for each purpose, from a secret that is kept anyway. */
export function keyFor(purpose: string, secret: string | Buffer): Buffer {
  return createHmac('sha256', secret).update(purpose).digest()
}

export function seal(claims: readonly unknown[], key: Buffer): string {
  const body = Buffer.from(JSON.stringify(claims)).toString('base64url')
  return `${body}.${signatureOf(body, key)}`
}

/** What was sealed; undefined when it was not made with this key, down to the last character. */
export function unseal(text: string, key: Buffer): unknown[] | undefined {
  const [body = '', signature = '', more] = text.length < LONGEST ? text.split('.') : []
  const right = Buffer.from(signatureOf(body, key))
  const given = Buffer.from(signature)
  // With something behind it, one that was ended would go on as another.
  if (more !== undefined || given.length !== right.length || !timingSafeEqual(given, right)) return undefined
  return JSON.parse(Buffer.from(body, 'base64url').toString())
}

// --- internal ---

const LONGEST = 4000

/** 192 bits of it. */
function signatureOf(body: string, key: Buffer): string {
  return createHmac('sha256', key).update(body).digest('base64url').slice(0, 32)
}
