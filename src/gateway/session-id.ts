// Ids of sessions, signed: a gateway that was started anew, or that forgot an idle session, knows by the id alone whose it
// was and what was agreed. Clients hardly ever recover from "no such session", so they are told so only when they must.

import { randomHex } from '../base/digest.ts'
import { isRecord } from '../base/record.ts'
import { keyFor, seal, unseal } from '../base/sealed.ts'
import { LEGACY_VERSIONS } from '../wire/era.ts'

/** What the client can be asked. */
export interface Askable {
  readonly form: boolean
  readonly url: boolean
  readonly sampling: boolean
  readonly roots: boolean
}

export interface Claims {
  /** Empty for the owner. */
  readonly agent: string
  /** The one server it is about; undefined for all. */
  readonly scope: string | undefined
  readonly version: string
  readonly askable: Askable
  /** Epoch milliseconds. */
  readonly since: number
}

/** The key from a secret that this home keeps anyway. */
export function sessionKey(secret: string): Buffer {
  return keyFor('busbar session ids', secret)
}

export function sealSession({ agent, scope, version, askable, since }: Claims, key: Buffer): string {
  const { form, url, sampling, roots } = askable
  const flags = [form, url, sampling, roots].map(Number).join('')
  const claims = [randomHex(8), agent, scope ?? null, version, flags, Math.floor(since / 1000)]
  return seal(claims, key)
}

/** What an id says, if it is one of ours. */
export function openSession(id: string, key: Buffer): Claims | undefined {
  const claims = unseal(id, key)
  if (claims === undefined) return undefined
  // What we sealed ourselves has the form that we gave it.
  const [, agent, scope, version, flags, seconds] = claims as [
    string,
    string,
    string | null,
    string,
    string,
    number,
  ]
  const [form, url, sampling, roots] = [...String(flags)].map((flag) => flag === '1')
  return {
    agent,
    scope: scope ?? undefined,
    version,
    askable: { form: form === true, url: url === true, sampling: sampling === true, roots: roots === true },
    since: seconds * 1000,
  }
}

/** What a client says of itself when it introduces itself, as far as it matters here. */
export function askableOf(capabilities: unknown): Askable {
  const { elicitation, sampling, roots } = isRecord(capabilities) ? capabilities : {}
  const asked = isRecord(elicitation) ? elicitation : undefined
  return {
    // The first version of it knew forms only, and did not say so.
    form: asked !== undefined && (asked['form'] !== undefined || asked['url'] === undefined),
    url: asked?.['url'] !== undefined,
    sampling: isRecord(sampling),
    roots: isRecord(roots),
  }
}

export function canBeAsked({ form, url, sampling, roots }: Askable): boolean {
  return form || url || sampling || roots
}

/** The same as a modern server is told it. */
export function capabilitiesFrom({ form, url, sampling, roots }: Askable): object {
  const elicitation = { ...(form ? { form: {} } : {}), ...(url ? { url: {} } : {}) }
  return {
    ...(form || url ? { elicitation } : {}),
    ...(sampling ? { sampling: {} } : {}),
    ...(roots ? { roots: {} } : {}),
  }
}

/** The version that is spoken with a client that asks for one. */
export function spokenVersion(requested: unknown): string {
  const known = typeof requested === 'string' && LEGACY_VERSIONS.includes(requested)
  return known ? requested : (LEGACY_VERSIONS[0] ?? '')
}
