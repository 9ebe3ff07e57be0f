// Where a server may be reached. The address a person wrote says what is meant: a private one only if that very host
// was written. Names are checked when they are dialled, and what was checked is what is dialled, so a name that changes
// its meaning in between gains nothing.

import { lookup as lookUp } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import { Fault } from '../../base/fault.ts'
import { type Kind, kindOf } from './address.ts'

interface ResolvedAddress {
  readonly address: string
  readonly family: number
}

export type Resolve = (host: string) => Promise<readonly ResolvedAddress[]>

/**
 * A `lookup` for sockets to `target` that refuses what `configured` does not mean. Throws when the host of `target` is
 * an address that is refused: sockets do not look those up.
 */
export function guardedLookup(target: URL, configured: URL, resolve: Resolve = resolveAll): LookupFunction {
  const allowed = allowedKinds(target, configured)
  const host = bareHost(target)
  if (isIP(host) && !allowed.has(kindOf(host))) throw refused(host, host)
  return (hostname, options, callback) => {
    resolve(hostname).then(
      (addresses) => {
        // One bad address among good ones is no accident.
        const bad = addresses.find(({ address }) => !allowed.has(kindOf(address)))
        const [first] = addresses
        if (bad) callback(refused(hostname, bad.address), '')
        else if (first === undefined) callback(unknownName(hostname), '')
        else if (options.all) callback(null, [...addresses])
        else callback(null, first.address, first.family)
      },
      (error: NodeJS.ErrnoException) => callback(error, ''),
    )
  }
}

/** The host of an address as sockets want it: no brackets, no dot at the end. */
export function bareHost({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
}

export function meansLoopback(host: string): boolean {
  return /(?:^|\.)localhost$/i.test(host) || kindOf(host) === 'loopback' || kindOf(host) === 'unspecified'
}

// --- internal ---

const PUBLIC: ReadonlySet<Kind> = new Set(['public'])
const LOOPBACK: ReadonlySet<Kind> = new Set(['public', 'loopback', 'unspecified'])
const PRIVATE: ReadonlySet<Kind> = new Set(['public', 'private', 'loopback'])

/** Names that no public register gives out, so whoever writes one means the own network. */
const LOCAL_NAME = /^[^.]+$|\.(?:local|lan|internal|intranet|corp|home|private|home\.arpa)$/i

function allowedKinds(target: URL, configured: URL): ReadonlySet<Kind> {
  const host = bareHost(target)
  const meant = bareHost(configured)
  // Someone who runs a server on this machine may run what it refers to here as well, on another port.
  if (meansLoopback(meant) && meansLoopback(host)) return LOOPBACK
  if (host !== meant) return PUBLIC
  if (isIP(meant)) return kindOf(meant) === 'private' ? PRIVATE : PUBLIC
  return LOCAL_NAME.test(meant) ? PRIVATE : PUBLIC
}

const WORDS: Record<Kind, string> = {
  public: 'public',
  loopback: 'this machine',
  unspecified: 'this machine',
  private: 'a private network',
  'link-local': 'a network of machines, where clouds keep their secrets',
  reserved: 'no address of the public network',
}

function refused(host: string, address: string): Fault {
  const kind = kindOf(address)
  const message =
    host === address
      ? `${address} is ${WORDS[kind]}: not allowed here`
      : `${host} leads to ${address}, which is ${WORDS[kind]}: not allowed for a public name`
  const meant = kind === 'loopback' || kind === 'private'
  return new Fault('ADDRESS_REFUSED', message, {
    hint: meant ? `if that is meant, write the address itself: ${address}` : undefined,
    details: { host, address, kind },
  })
}

function unknownName(host: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${host} has no address`), { code: 'ENOTFOUND' })
}

function resolveAll(host: string): Promise<readonly ResolvedAddress[]> {
  return lookUp(host, { all: true })
}
