// What a server asks of a client in the middle of a request: passed on when the client said that it can answer, and, where
// a model is to be used, when a person agreed.

import { Fault } from '../base/fault.ts'
import type { Stop } from '../base/stop.ts'
import type { Consented } from '../call/consent.ts'
import type { Caller } from '../call/own-instance.ts'
import type { Given } from '../connect/asker.ts'
import type { Actor } from '../policy/access.ts'
import { ERROR } from '../wire/era.ts'
import {
  find,
  type Id,
  memberValue,
  type NotificationMessage,
  type RequestMessage,
  slice,
} from '../wire/message.ts'
import type { Askable } from './session-id.ts'

/** A question that a client has yet to answer. */
export interface Question {
  readonly progressToken: unknown
  answer(given: Given): void
  progress(message: NotificationMessage): void
}

export interface Forwarding {
  /** Waits until a person agreed that a server uses a client's model. Throws why not. */
  consent(actor: Actor, server: string, params: string, stop: Stop): Promise<Consented>
  /** Tells a server something, in the instance that somebody's requests go to. */
  tell(server: string, message: NotificationMessage, caller: Caller): void
  /** The client of a session has gone for good. */
  gone(session: string): void
}

interface Asking {
  readonly server: string
  readonly caller: Caller
  readonly askable: Askable
  readonly message: RequestMessage
  readonly stop: Stop
  /** Under which number the client is asked. */
  readonly id: number
  /** False when it cannot reach the client. */
  send(body: Buffer): boolean
  expect(id: Id, question: Question): void
  forget(id: Id): void
}

/** Never rejects: a server is always answered. */
export async function forwardQuestion(forwarding: Forwarding, asking: Asking): Promise<Given> {
  const { message, askable, server, caller, stop } = asking
  try {
    const params = memberValue(message, 'params') as Record<string, unknown> | undefined
    const wrong = refusal(message.method, params, askable)
    if (wrong !== undefined) return { error: { code: ERROR.methodNotFound, message: wrong } }
    if (message.method !== 'sampling/createMessage') return await ask(forwarding, asking, params)
    const text = slice(message, 'params')?.toString() ?? '{}'
    const consented = await forwarding.consent(caller.actor, server, text, stop)
    const given = await ask(forwarding, asking, params)
    if ('reply' in given) await consented.answered(given.reply)
    else await consented.failed(new Fault('CALL_CANCELLED', UNANSWERED))
    return given
  } catch (error) {
    const reason = error instanceof Fault ? error.message : 'something went wrong in Busbar itself'
    return { error: { code: ERROR.internal, message: reason } }
  }
}

// --- internal ---

const UNANSWERED = 'the client did not answer'

function ask(
  forwarding: Forwarding,
  { server, caller, message, stop, id, send, expect, forget }: Asking,
  params: Record<string, unknown> | undefined,
): Promise<Given> {
  return new Promise((resolve) => {
    const meta = params?.['_meta'] as { progressToken?: unknown } | undefined
    expect(id, {
      progressToken: meta?.progressToken,
      answer: resolve,
      progress: (progress) => forwarding.tell(server, progress, caller),
    })
    const withdraw = () => {
      forget(id)
      const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } }
      send(Buffer.from(JSON.stringify(cancelled)))
      resolve({ error: { code: ERROR.internal, message: 'withdrawn' } })
    }
    if (stop.aborted) return withdraw()
    stop.addEventListener('abort', withdraw, { once: true })
    if (send(underId(message, id))) return
    forget(id)
    resolve({ error: { code: ERROR.internal, message: 'the client cannot be reached at this moment' } })
  })
}

/** Why the client is not asked. */
function refusal(
  method: string,
  params: Record<string, unknown> | undefined,
  { form, url, sampling, roots }: Askable,
): string | undefined {
  const cannot = `the client that made this call cannot answer ${method}`
  switch (method) {
    case 'roots/list':
      return roots ? undefined : cannot
    case 'sampling/createMessage':
      return sampling ? undefined : cannot
    case 'elicitation/create': {
      if (params?.['mode'] !== 'url') return form ? undefined : cannot
      const address = params['url']
      const isWeb = typeof address === 'string' && /^https?:\/\//i.test(address) && URL.canParse(address)
      if (!isWeb) return 'only http and https addresses can be shown'
      return url ? undefined : `${cannot} with an address`
    }
    default:
      return `${method} is not offered here`
  }
}

/** The same question under another number; nothing else is touched. */
function underId({ bytes, members }: RequestMessage, id: number): Buffer {
  const member = find(members, 'id')
  if (member === undefined) return bytes
  return Buffer.concat([bytes.subarray(0, member.start), Buffer.from(String(id)), bytes.subarray(member.end)])
}
