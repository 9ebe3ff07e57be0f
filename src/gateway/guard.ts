// Who may speak to the gateway at all, before anybody asks who it is. A web page in the person's own browser can reach
// loopback; what gives it away are the names it uses.

import { isIPv4 } from 'node:net'
import { Fault } from '../base/fault.ts'

/** Whether a Host header names this machine's loopback or a host that the configuration allows. */
export function isHostAllowed(host: string | undefined, allowed: readonly string[]): boolean {
  if (host === undefined || host === '') return false
  const name = host.replace(/:\d{1,5}$/, '').toLowerCase()
  return (
    isLoopbackName(name) ||
    allowed.some((it) => it.toLowerCase() === name || it.toLowerCase() === host.toLowerCase())
  )
}

/** Whether an Origin header, if there is one, belongs to the same. Programs send none; `null` is a hidden page's. */
export function isOriginAllowed(origin: string | undefined, allowed: readonly string[]): boolean {
  if (origin === undefined) return true
  if (!URL.canParse(origin)) return false
  const { protocol, host } = new URL(origin)
  return (protocol === 'http:' || protocol === 'https:') && isHostAllowed(host, allowed)
}

/** Why a request comes by a wrong name; undefined when it does not. */
export function wrongName(
  { host, origin }: { readonly host?: string | undefined; readonly origin?: string | undefined },
  allowed: readonly string[],
): string | undefined {
  const [header, value] = isHostAllowed(host, allowed) ? ['Origin', origin] : ['Host', host]
  if (header === 'Origin' && isOriginAllowed(origin, allowed)) return undefined
  return `the ${header} ${shown(value)} is not allowed: it is neither loopback nor listed in gateway.allowedHosts`
}

/** Whether an address to listen on can be reached from this machine only. */
export function isLoopback(host: string): boolean {
  return isLoopbackName(host.toLowerCase()) || host === '::1'
}

/** Refuses an address that other machines can reach, unless it is said by which names, and who may come. */
export function checkExposure(
  host: string,
  allowed: readonly string[],
  agents: { readonly enabled: readonly string[]; readonly withToken: readonly string[] },
): void {
  if (isLoopback(host)) return
  if (allowed.length === 0)
    throw new Fault('CONFIG_INVALID', `${host} can be reached from other machines`, {
      hint: 'say by which names, under gateway.allowedHosts',
    })
  const without = agents.enabled.filter((agent) => !agents.withToken.includes(agent))
  if (without.length === 0) return
  throw new Fault(
    'CONFIG_INVALID',
    `${host} can be reached from other machines, and these agents have no token: ${without.join(', ')}`,
    { hint: `make one for each, or disable them: busbar agents token ${without[0]}` },
  )
}

// --- internal ---

/** Characters of a name that are repeated to who sent it. */
const LONGEST_NAME = 100

function shown(name = ''): string {
  const clean = name.replace(/[^\x20-\x7e]/g, '?')
  return JSON.stringify(clean.length > LONGEST_NAME ? `${clean.slice(0, LONGEST_NAME)}…` : clean)
}

/** An address is what it says, whoever resolved it; of names only the one that no page can have. */
function isLoopbackName(name: string): boolean {
  return name === 'localhost' || name === '[::1]' || (name.startsWith('127.') && isIPv4(name))
}
