// Addresses that a server names for signing in. They are dialled with secrets in hand or opened in a person's browser,
// so they have to be plain: encrypted, or on this very machine, with nothing in them that some program could take for
// something else than an address.

import { excerptOf } from '../../base/excerpt.ts'
import { Fault } from '../../base/fault.ts'
import { maskText, scrubLearned } from '../../base/redact.ts'
import { bareHost, meansLoopback } from '../http/guard.ts'

/** Throws a fault that says which address is refused, and why. */
export function endpointOf(text: unknown, what: string): URL {
  const reason = whyNot(text)
  if (reason === undefined) return new URL(String(text))
  throw new Fault('SIGN_IN_FAILED', `the ${what} is refused: ${reason}: ${shown(text)}`, {
    hint: 'tell whoever runs the server; nothing was opened or sent',
  })
}

// --- internal ---

const LONGEST = 4096

function whyNot(text: unknown): string | undefined {
  if (typeof text !== 'string' || text === '') return 'there is none'
  if (text.length > LONGEST) return `it is longer than ${LONGEST} characters`
  // The parser would drop or rewrite these without a word; some programs that open addresses do not.
  if (/[^\x21-\x7e]|["'`<>\\^{|}$();]/.test(text)) return 'it has characters that no such address has'
  if (!URL.canParse(text)) return 'it is no address'
  const url = new URL(text)
  const host = bareHost(url)
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && meansLoopback(host)))
    return 'it is not https'
  if (url.username !== '' || url.password !== '') return 'it has a user in it'
  if (url.hash !== '') return 'it has a fragment'
  if (!/^(?:[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?|[0-9a-f:.]+)$/i.test(host)) return 'its host is no name'
  return undefined
}

function shown(text: unknown): string {
  const plain = typeof text === 'string' ? text : (JSON.stringify(text) ?? 'undefined')
  return excerptOf(plain, { most: 120, mask: (it) => maskText(scrubLearned(it)) })
}
