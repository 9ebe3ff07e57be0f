// Redirects stay within the origin: headers that were meant for one server never reach another.

import { excerptOf } from '../../base/excerpt.ts'
import { Fault } from '../../base/fault.ts'

export function isRedirect(status: number): boolean {
  return status === 301 || status === 302 || status === 303 || status === 307 || status === 308
}

interface Redirection {
  readonly from: URL
  readonly count: number
  /** Takes secrets out of what is told. */
  readonly mask: (text: string) => string
}

/** The path to ask next, or why it is not asked. `count` is how many were followed before. */
export function followRedirect(
  method: string,
  status: number,
  location: string | undefined,
  { from, count, mask }: Redirection,
): string | Fault {
  const details = { status, location: location && excerptOf(location, { most: LONGEST, mask }) }
  if (location === undefined || !URL.canParse(location, from.href))
    return new Fault('SERVER_UNREACHABLE', `${from.host} answered ${status} without saying where to`, {
      details,
    })
  const target = new URL(location, from.href)
  const shown = shownAddress(target, mask)
  if (!/^https?:$/.test(target.protocol))
    return new Fault('ADDRESS_REFUSED', `${from.host} wants to send us on to ${shown}, which is no server`, {
      details: { ...details, target: shown },
    })
  if (target.origin !== from.origin)
    return new Fault('ADDRESS_REFUSED', `${from.host} wants to send us on to ${shown}, another server`, {
      hint: 'if that is right, write that address into the configuration',
      details: { ...details, target: shown },
    })
  // These would turn a message into a question for a page.
  if (method !== 'GET' && status !== 307 && status !== 308)
    return new Fault('SERVER_UNREACHABLE', `${from.host} has moved to ${shown}`, {
      hint: 'write that address into the configuration',
      details: { ...details, target: shown },
    })
  if (count >= MAX_REDIRECTS)
    return new Fault('SERVER_UNREACHABLE', `${from.host} keeps sending us on`, { details })
  return target.pathname + target.search
}

// --- internal ---

const MAX_REDIRECTS = 3
const LONGEST = 200

/** Without what may be a secret in it. The origin alone will not do: files and the like have none. */
function shownAddress(target: URL, mask: (text: string) => string): string {
  const bare = new URL(target)
  for (const part of ['username', 'password', 'search', 'hash'] as const) bare[part] = ''
  return excerptOf(bare.href, { most: LONGEST, mask })
}
