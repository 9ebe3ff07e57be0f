// Signing in by way of the gateway, as the console does: the answer says where a person has to go, and what became of it
// is told by the server's status.

import { Fault } from '../base/fault.ts'
import { isRecord } from '../base/record.ts'
import type { Logout } from '../connect/login.ts'
import type { Hub } from '../hub.ts'

export interface SignInBody {
  /** One of the server's `accounts`. */
  readonly account?: string | undefined
  readonly scopes?: readonly string[] | undefined
  /** On another device, with a code. */
  readonly device?: boolean | undefined
}

export interface SignInAnswer {
  readonly server: string
  readonly account?: string | undefined
  /** To be opened in a browser on the machine of the gateway; with `userCode`, anywhere. */
  readonly url: string
  readonly userCode?: string | undefined
  /** Milliseconds since 1970. */
  readonly expires: number
}

/** Answers as soon as it is known where to go. Whoever asks again starts anew: the earlier address is void then. */
export async function startSignIn(hub: Hub, server: string, body: Buffer): Promise<SignInAnswer> {
  const { account, scopes, device } = bodyOf(body)
  const key = JSON.stringify([server, account])
  const running = underWay.get(hub) ?? new Map<string, AbortController>()
  underWay.set(hub, running)
  running.get(key)?.abort(new Fault('CALL_CANCELLED', 'signing in was started anew'))
  const stop = new AbortController()
  running.set(key, stop)
  return await new Promise((resolve, reject) => {
    hub.servers
      .login(server, {
        account,
        scopes,
        device,
        signal: stop.signal,
        onSignIn: ({ url, userCode, expires }) => resolve({ server, account, url, userCode, expires }),
      })
      // Nobody waits for this any more once the address was told; the server's status says what it is good for.
      .catch((error: unknown) => {
        reject(error)
        if (!stop.signal.aborted && error instanceof Fault) hub.context.trouble(`${server}: ${error.message}`)
      })
      .finally(() => {
        if (running.get(key) === stop) running.delete(key)
      })
  })
}

export async function signOut(hub: Hub, server: string, body: Buffer): Promise<Logout> {
  const { account } = bodyOf(body)
  return await hub.servers.logout(server, account === undefined ? {} : { account })
}

// --- internal ---

const underWay = new WeakMap<Hub, Map<string, AbortController>>()

function bodyOf(body: Buffer): SignInBody {
  const value = body.length === 0 ? {} : parsed(body)
  const { account, scopes, device } = isRecord(value) ? value : {}
  const isRight =
    isRecord(value) &&
    (account === undefined || typeof account === 'string') &&
    (device === undefined || typeof device === 'boolean') &&
    (scopes === undefined || (Array.isArray(scopes) && scopes.every((each) => typeof each === 'string')))
  if (isRight) return value
  throw new Fault('USAGE', 'the body is not understood', {
    hint: 'send nothing, or {"account": "work", "scopes": ["read"], "device": false}',
  })
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(String(body))
  } catch {
    return undefined
  }
}
