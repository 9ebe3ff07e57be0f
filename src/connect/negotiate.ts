// Which era a server speaks. Asked in place, on the one process there is: `server/discover` first, `initialize` after an
// error or a moment of silence; the first definitive answer wins.

import { Fault } from '../base/fault.ts'
import {
  type Agreement,
  ERROR,
  type Era,
  type Implementation,
  LEGACY_VERSIONS,
  META,
  MODERN_VERSION,
} from '../wire/era.ts'
import { errorOf, memberValue, type ReplyMessage, type ResultMessage } from '../wire/message.ts'
import { modernMeta, paramsText } from '../wire/params.ts'
import { patiently } from './busy.ts'
import type { Channel } from './channel.ts'

export interface Introduction {
  readonly client: Implementation
  /** What servers may ask of us. */
  readonly capabilities: Readonly<Record<string, unknown>>
  /** What those who call through us may be asked as well: a legacy server is told once for all of them. */
  readonly declared: Readonly<Record<string, unknown>>
  /** What it spoke the last time, if that is known and not long ago. */
  readonly expected?: Era | undefined
  /** The one era its transport has: no question of the other is asked. */
  readonly only?: Era | undefined
  /** Milliseconds of silence after which `initialize` follows. */
  readonly patience: number
  /** Milliseconds for all of it. */
  readonly deadline: number
  readonly signal: AbortSignal
}

/** What was agreed on. */
export interface Agreed {
  readonly agreement: Agreement
  /**
   * It started so slowly that it was asked both questions, and said yes to both. A server that speaks both eras keeps to
   * the older one from then on; started anew, and waited for, it would speak the newer.
   */
  readonly held: boolean
}

/** Agrees with the server on an era and a version, or says why that is not possible. */
export async function negotiate(channel: Channel, server: string, intro: Introduction): Promise<Agreed> {
  // Ends with the negotiation, so that a question which is still open then is given up.
  const over = new AbortController()
  const stop = () => over.abort()
  let late = false
  const timer = setTimeout(() => {
    late = true
    stop()
  }, intro.deadline)
  intro.signal.addEventListener('abort', stop, { once: true })
  if (intro.signal.aborted) stop()
  try {
    return await agree(channel, server, { ...intro, signal: over.signal })
  } catch (error) {
    if (!late) throw error
    throw new Fault('CONNECT_TIMEOUT', `${server} did not answer within ${intro.deadline / 1000} s`, {
      hint: `give it longer: timeouts.connect of ${server}${older(intro, '; or ')}`,
      server,
    })
  } finally {
    clearTimeout(timer)
    intro.signal.removeEventListener('abort', stop)
    stop()
  }
}

// --- internal ---

/** What a person can do who knows the server; nothing where the era was known beforehand. */
function older({ expected, only }: Introduction, before = ''): string {
  if (expected !== undefined || only !== undefined) return ''
  return `${before}if it only knows the older handshake, say so: era: legacy`
}

/** What came of the first question: an answer, or something that is none and still no reason to give up. */
type Heard = ReplyMessage | Fault

async function agree(channel: Channel, server: string, intro: Introduction): Promise<Agreed> {
  if (intro.expected === 'legacy') {
    const reply = await initialize(channel, intro)
    if (reply.kind === 'result') return settled(legacy(channel, server, reply))
    if (intro.only === 'legacy') throw refused(server, reply, intro)
    // It changed since: ask anew.
  }
  const discovered = discover(channel, intro).catch((error) => refusal(channel, error))
  // An answer that comes while nobody looks must not count as unhandled.
  discovered.catch(() => undefined)
  // One that is known to be modern is only slow.
  const patience = intro.expected === 'modern' ? Math.max(intro.patience, intro.deadline / 2) : intro.patience
  const first = await Promise.race([discovered, silence(patience, intro.signal)])
  if (first !== 'silent') {
    const agreement = modern(channel, first)
    return settled(agreement ?? (await initializeAfter(channel, server, intro, first)))
  }
  // Both are on their way now.
  const initialized = initialize(channel, intro)
  initialized.catch(() => undefined)
  let early: Heard | undefined
  const answered = discovered.then((reply) => {
    early = reply
    return isModern(reply) ? reply : initialized
  })
  await Promise.race([answered, initialized])
  // A server that starts slowly answers both at once. Where each request stands for itself, the first question counts;
  // where all share one stream, the older one does: it says how the server goes on.
  await new Promise((resolve) => setImmediate(resolve))
  const late = isModern(early) ? silence(intro.patience, intro.signal) : new Promise<never>(() => undefined)
  const second = isModern(early) && channel.streams ? 'silent' : await Promise.race([initialized, late])
  if (second !== 'silent' && second.kind === 'result')
    return { agreement: legacy(channel, server, second), held: isModern(early) }
  const agreement = modern(channel, await discovered)
  if (agreement) return settled(agreement)
  throw refused(server, second === 'silent' ? undefined : second, intro)
}

function settled(agreement: Agreement): Agreed {
  return { agreement, held: false }
}

async function initializeAfter(
  channel: Channel,
  server: string,
  intro: Introduction,
  first: Heard,
): Promise<Agreement> {
  const reply = await initialize(channel, intro).catch((error) => {
    throw first instanceof Fault && tellsMore(first, error) ? first : error
  })
  if (reply.kind === 'result') return legacy(channel, server, reply)
  // A modern server need not know `server/discover` over http; it does not know `initialize` either.
  const unknown = (it: Heard) =>
    !(it instanceof Fault) && it.kind === 'error' && errorOf(it).code === ERROR.methodNotFound
  if (!unknown(first) || !unknown(reply)) throw refused(server, reply, intro)
  channel.agree({ modern: true, version: MODERN_VERSION })
  return {
    era: 'modern',
    version: MODERN_VERSION,
    serverInfo: undefined,
    capabilities: {},
    instructions: undefined,
  }
}

async function discover(channel: Channel, intro: Introduction): Promise<ReplyMessage> {
  const params = paramsText(undefined, modernMeta(intro.client, intro.capabilities))
  const { signal } = intro
  const ask = () =>
    patiently(() => channel.request({ method: 'server/discover', params, signal, quiet: true }), signal)
  const reply = await ask()
  if (reply.kind !== 'error') return reply
  // Only a modern server has this error; if it names our version all the same, it is asked once more.
  const { code, data } = errorOf(reply)
  const supported = (data as { supported?: unknown } | undefined)?.supported
  const again =
    code === ERROR.unsupportedVersion && Array.isArray(supported) && supported.includes(MODERN_VERSION)
  return again ? await ask() : reply
}

/**
 * A server that does not understand the question may choke on it: answer with half a message, over http with a bare
 * status or a page, or hang up. Where nobody was reached, or somebody wants a sign-in or time, that is the answer.
 */
function refusal(channel: Channel, error: unknown): Fault {
  if (!(error instanceof Fault) || channel.ended || !isRefusal(error)) throw error
  return error
}

function isRefusal(fault: Fault): boolean {
  const { code } = fault
  if (code === 'MESSAGE_INVALID' || code === 'CONNECTION_LOST') return true
  const status = statusOf(fault)
  // Whoever sends us elsewhere would do so again.
  const isAnswer = status !== undefined && (status < 300 || status >= 400)
  return (code === 'SERVER_UNREACHABLE' || code === 'SERVER_ERROR') && isAnswer
}

/** Whether the first of two failures says more than the second: an answer, however short, says more than none. */
function tellsMore(first: Fault, second: unknown): boolean {
  return statusOf(first) !== undefined && !(second instanceof Fault && statusOf(second) !== undefined)
}

function statusOf({ details }: Fault): number | undefined {
  const status = details?.['status']
  return typeof status === 'number' ? status : undefined
}

function initialize(channel: Channel, intro: Introduction): Promise<ReplyMessage> {
  const [protocolVersion] = LEGACY_VERSIONS
  const params = JSON.stringify({
    protocolVersion,
    capabilities: intro.declared,
    clientInfo: intro.client,
  })
  const { signal } = intro
  return patiently(() => channel.request({ method: 'initialize', params, signal, quiet: true }), signal)
}

/** A result without versions is no answer to this question: some servers answer anything with `{}`. */
export function isModern(reply: Heard | undefined): reply is ResultMessage {
  if (reply === undefined || reply instanceof Fault || reply.kind !== 'result') return false
  const versions = record(memberValue(reply, 'result'))['supportedVersions']
  return Array.isArray(versions) && versions.includes(MODERN_VERSION)
}

function modern(channel: Channel, reply: Heard): Agreement | undefined {
  if (!isModern(reply)) return undefined
  const result = record(memberValue(reply, 'result'))
  channel.agree({ modern: true, version: MODERN_VERSION })
  const info = record(result['_meta'])[META.server] ?? result['serverInfo']
  return { era: 'modern', version: MODERN_VERSION, ...common(result, info) }
}

function legacy(channel: Channel, server: string, reply: ReplyMessage): Agreement {
  const result = record(memberValue(reply, 'result'))
  const version = result['protocolVersion']
  if (typeof version !== 'string' || !LEGACY_VERSIONS.includes(version))
    throw new Fault(
      'SERVER_UNREACHABLE',
      `${server} speaks version ${JSON.stringify(version)} of the protocol, which Busbar does not`,
      { hint: `known: ${[MODERN_VERSION, ...LEGACY_VERSIONS].join(', ')}`, server },
    )
  channel.agree({ modern: false, version })
  channel.notify('notifications/initialized')
  return { era: 'legacy', version, ...common(result, result['serverInfo']) }
}

function common(result: Record<string, unknown>, info: unknown) {
  const { name, version, title, ...more } = record(info)
  return {
    // Clients of this one server are shown all of it: icons, an address, and what later versions may add.
    serverInfo:
      typeof name === 'string'
        ? {
            name,
            version: typeof version === 'string' ? version : '',
            ...(typeof title === 'string' ? { title } : {}),
            ...more,
          }
        : undefined,
    capabilities: record(result['capabilities']),
    instructions: typeof result['instructions'] === 'string' ? result['instructions'] : undefined,
  }
}

function refused(server: string, reply: ReplyMessage | undefined, intro: Introduction): Fault {
  const reason = reply?.kind === 'error' ? errorOf(reply).message : 'no reason'
  return new Fault('SERVER_UNREACHABLE', `${server} refused to start a session: ${reason}`, {
    hint: older(intro) || undefined,
    server,
    details: { refused: 'initialize' },
  })
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {}
}

function silence(milliseconds: number, signal: AbortSignal): Promise<'silent'> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, milliseconds)
    signal.addEventListener('abort', done, { once: true })
    function done() {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve('silent')
    }
  })
}
