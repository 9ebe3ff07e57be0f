// Asks the running gateway over its socket. There is at most one for a state folder, and only its owner can reach it.

import { existsSync } from 'node:fs'
import { request } from 'node:http'
import { dirname } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { type Code, Fault } from '../base/fault.ts'
import { gatewaySocket, type Places, unsafeReason } from '../base/places.ts'
import { isRecord } from '../base/record.ts'
import type { Snapshot } from '../config/snapshot.ts'
import { configDigest } from '../config/snapshot-digest.ts'
import { faultFrom } from '../gateway/api-fault.ts'

interface Asking {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly signal: AbortSignal
  readonly body?: string | undefined
  /** What to do instead where no gateway runs. */
  readonly otherwise?: string | undefined
  /** Milliseconds. */
  readonly timeout?: number | undefined
}

/** Milliseconds for what has a limit of its own in the gateway. */
export const NO_LIMIT: number = 24 * 60 * 60 * 1000

/** The gateway's answer as data; its refusals, and its absence, are thrown as faults. It is this very program. */
export async function askGateway<T extends object = Record<string, unknown>>(
  places: Places,
  asking: Asking,
): Promise<T> {
  return parse((await askForBytes(places, asking)).toString('utf8')) as T
}

/** The same as it came. */
export async function askForBytes(
  places: Places,
  { method, path, signal, body = '', otherwise, timeout = 150_000 }: Asking,
): Promise<Buffer> {
  const socketPath = gatewaySocket(places)
  const reason = unsafeReason(dirname(socketPath))
  // Whoever owns the folder could listen in the gateway's place.
  if (reason !== undefined) throw new Fault('STATE_REFUSED', `${dirname(socketPath)} ${reason}`)
  const stuck = new AbortController()
  const limit = AbortSignal.any([signal, AbortSignal.timeout(timeout), stuck.signal])
  // Some answers take their time; a gateway that does not even say that it is there gives none.
  const looking = setInterval(() => void answersAt(socketPath).then((it) => it || stuck.abort()), ALIVE)
  const headers = { host: 'localhost', 'content-length': Buffer.byteLength(body) }
  const { status, answer } = await new Promise<{ status: number; answer: Buffer }>((resolve, reject) => {
    const asked = request(
      { socketPath, method, path, signal: limit, headers },
      (response) =>
        void buffer(response).then(
          (all) => resolve({ status: response.statusCode ?? 0, answer: all }),
          reject,
        ),
    )
    asked.on('error', reject)
    asked.end(body)
  })
    .catch((error: unknown) => {
      throw unanswered(error, signal, otherwise)
    })
    .finally(() => clearInterval(looking))
  if (status >= 200 && status < 300) return answer
  throw faultFrom(parse(answer.toString('utf8')), `the gateway answered ${status}`)
}

export interface GatewayStatus {
  readonly version: string
  /** Digest of the configuration it follows. */
  readonly config: string
  /** Where it listens; an older one does not say it. */
  readonly url?: string
}

/** What the gateway of this home says of itself; undefined when none runs. One that is stuck is a fault: not absent. */
export async function gatewayStatus(places: Places, signal: AbortSignal): Promise<GatewayStatus | undefined> {
  if (!existsSync(gatewaySocket(places))) return undefined
  try {
    const asking = { method: 'GET', path: '/api/status', signal, timeout: PATIENCE } as const
    return await askGateway<GatewayStatus>(places, asking)
  } catch (error) {
    if (error instanceof Fault && !STUCK.has(error.code)) return undefined
    throw error
  }
}

/** Whether a gateway runs for this home. */
export async function gatewayRuns(places: Places, signal: AbortSignal): Promise<boolean> {
  return (await gatewayStatus(places, signal)) !== undefined
}

/** Whether a gateway runs that follows this very configuration; only then a command may ask it. */
export async function gatewayFollows(active: Snapshot, signal: AbortSignal): Promise<boolean> {
  return (await gatewayStatus(active.places, signal))?.config === configDigest(active)
}

// --- internal ---

/** Milliseconds; a gateway that is there answers at once, unless the machine is very busy. */
const PATIENCE = 10_000
/** Milliseconds after which it is asked whether it is there at all, and for which that may take. */
const ALIVE = 4_000

/** Whether something answers at all: a process that was stopped takes connections, and nothing more. */
function answersAt(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const asked = request({ socketPath, path: '/healthz', headers: { host: 'localhost' }, timeout: ALIVE })
    asked.on('response', (response) => {
      response.resume()
      resolve(true)
    })
    asked.on('timeout', () => asked.destroy())
    asked.on('error', () => resolve(false))
    asked.end()
  })
}

const STUCK: ReadonlySet<Code> = new Set<Code>(['CALL_CANCELLED', 'CALL_TIMEOUT'])

function unanswered(error: unknown, signal: AbortSignal, otherwise: string | undefined): unknown {
  if (!(error instanceof Error)) return error
  if (signal.aborted) return new Fault('CALL_CANCELLED', 'interrupted')
  if (error.name === 'AbortError')
    return new Fault('CALL_TIMEOUT', 'the gateway did not answer in time', {
      hint: 'try again; if it is stopped or stuck, end that process and start it anew: busbar up',
    })
  const code = 'code' in error ? error.code : undefined
  if (code === 'ENOENT' || code === 'ECONNREFUSED' || code === 'ENOTSOCK')
    return new Fault('GATEWAY_ABSENT', 'no gateway is running', {
      hint: `start one: busbar up${otherwise ? `; or ${otherwise}` : ''}`,
    })
  return new Fault('SERVER_UNREACHABLE', `the gateway does not answer: ${error.message}`, { cause: error })
}

function parse(body: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(body)
    if (isRecord(value)) return value
  } catch {
    // Said below, like everything else that is no object.
  }
  throw new Fault('MESSAGE_INVALID', 'the gateway answered with something that is no JSON object', {
    hint: 'is it of the same version? restart it: busbar up',
  })
}
