// What a broken connection means, in words a person can act on.

import { Fault } from '../../base/fault.ts'
import type { Stage } from './kept-socket.ts'

/**
 * How an exchange broke: before anything was sent, on a kept connection that the server had already let go, on the way,
 * or by our own decision.
 */
export interface Breakage {
  readonly kind: 'unsent' | 'stale' | 'lost' | 'final'
  readonly fault: Fault
}

/** `at`: where the connection was; `answering` when the answer had begun. */
export function breakageOf(error: NodeJS.ErrnoException, place: string, at: Stage | 'answering'): Breakage {
  if (error instanceof Fault) return { kind: 'final', fault: error }
  const code = error.code ?? ''
  const before = at === 'opening' ? unsent(error, code, place) : undefined
  if (before) return { kind: 'unsent', fault: before }
  if (code.startsWith('HPE_'))
    return {
      kind: 'lost',
      fault: lost(`${place} answered with something that is not HTTP (${code})`, error),
    }
  if (at === 'answering') return { kind: 'lost', fault: lost(`${place} broke off its answer`, error) }
  return {
    kind: at === 'reused' ? 'stale' : 'lost',
    fault: lost(`${place} closed the connection without an answer`, error),
  }
}

/** Nobody can tell whether the server did what it was asked. */
export function lost(message: string, cause?: unknown): Fault {
  return new Fault('CONNECTION_LOST', `${message}: the outcome is unknown`, { cause })
}

export function tooLarge(place: string, limit: number): Fault {
  return new Fault('MESSAGE_TOO_LARGE', `${place} answered with more than ${limit} bytes`, {
    hint: 'raise limits.message of the server',
    details: { limit },
  })
}

// --- internal ---

const SENTENCES: Readonly<Record<string, (place: string) => string>> = {
  ECONNREFUSED: (place) => `nothing listens at ${place}`,
  ENOTFOUND: (place) => `nobody knows the name in ${place}`,
  EAI_AGAIN: (place) => `the name in ${place} cannot be looked up just now`,
  EHOSTUNREACH: (place) => `there is no way to ${place}`,
  ENETUNREACH: (place) => `there is no network to ${place}`,
  EHOSTDOWN: (place) => `${place} is down`,
  ETIMEDOUT: (place) => `${place} does not take connections`,
  EPROTO: (place) => `${place} does not speak TLS as it should`,
}

const NO_TLS: ReadonlySet<string> = new Set([
  'ERR_SSL_WRONG_VERSION_NUMBER',
  'ERR_SSL_PACKET_LENGTH_TOO_LONG',
  'ERR_SSL_HTTP_REQUEST',
  'ERR_SSL_UNKNOWN_PROTOCOL',
])

function unsent(error: NodeJS.ErrnoException, code: string, place: string): Fault | undefined {
  const options = { details: { code }, cause: error }
  const sentence = SENTENCES[code]
  if (sentence)
    return new Fault('SERVER_UNREACHABLE', sentence(place), {
      ...options,
      hint: code === 'ECONNREFUSED' ? 'is the server running, and is the port right?' : undefined,
    })
  // What answered was no TLS.
  if (NO_TLS.has(code))
    return new Fault('SERVER_UNREACHABLE', `${place} does not speak TLS`, {
      ...options,
      hint: 'does its url begin with http:// (or ws://)?',
    })
  if (/CERT|^ERR_TLS|^UNABLE_TO|^ERR_SSL|SELF_SIGNED/.test(code))
    return new Fault(
      'SERVER_UNREACHABLE',
      `the certificate of ${place} is not valid: ${error.message}`,
      options,
    )
  // What node itself says when the other side hangs up during the handshake.
  if (/before secure TLS connection/.test(error.message))
    return new Fault('SERVER_UNREACHABLE', `${place} hung up before the connection was secure`, options)
  if (/^ERR_(?:INVALID|UNESCAPED|HTTP_INVALID)/.test(code))
    return new Fault('MESSAGE_INVALID', `a header cannot be sent to ${place}: ${error.message}`, options)
  return undefined
}
