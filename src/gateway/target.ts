// Where a request goes and by which name, in whichever form its first line is written. What can be read in two ways is
// refused: whoever stands before the gateway may have read it in the other.

import type { IncomingMessage } from 'node:http'

export type Target =
  | {
      readonly kind: 'found'
      /** Path and query, as they came. */
      readonly url: string
      readonly host: string | undefined
    }
  | { readonly kind: 'unclear'; readonly reason: string }

/** A client that takes the gateway for its proxy writes the whole address (RFC 9112, 3.2.2). */
export function targetOf({
  url = '/',
  headers: { host },
  rawHeaders,
}: Pick<IncomingMessage, 'url' | 'headers' | 'rawHeaders'>): Target {
  const twice = repeated(rawHeaders)
  if (twice !== undefined) return { kind: 'unclear', reason: `there is more than one ${twice} header` }
  const whole = url.startsWith('/') ? null : WHOLE.exec(url)
  if (whole === null) return { kind: 'found', url, host }
  const [, scheme = '', authority = '', rest = ''] = whole
  if (host !== undefined && plain(scheme, authority) !== plain(scheme, host))
    return { kind: 'unclear', reason: 'the Host header names another host than the address of the request' }
  return { kind: 'found', url: rest.startsWith('/') ? rest : `/${rest}`, host: authority }
}

// --- internal ---

const WHOLE = /^(https?):\/\/([^/?#]*)([^#]*)/i

/** Node takes the first of several; others take the last. */
const ONCE: ReadonlySet<string> = new Set(['host', 'authorization'])
const LENGTHS: ReadonlySet<number> = new Set([...ONCE].map(({ length }) => length))

function repeated(rawHeaders: readonly string[]): string | undefined {
  let seen = ''
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const written = rawHeaders[at] ?? ''
    if (!LENGTHS.has(written.length)) continue
    const name = written.toLowerCase()
    if (!ONCE.has(name)) continue
    if (seen.includes(name)) return name === 'host' ? 'Host' : 'Authorization'
    seen += ` ${name}`
  }
  return undefined
}

/** The same for all ways to write it: in small letters, and without the port that goes without saying. */
function plain(scheme: string, authority: string): string {
  const usual = scheme.toLowerCase() === 'https' ? ':443' : ':80'
  const name = authority.toLowerCase()
  return name.endsWith(usual) ? name.slice(0, -usual.length) : name
}
