// One request of a client, read, before anybody decided on it.

import type { IncomingHttpHeaders } from 'node:http'
import type { Caller } from '../call/own-instance.ts'
import { type Actor, agentOf } from '../policy/access.ts'
import type { RequestMessage } from '../wire/message.ts'
import type { RawParams } from '../wire/params.ts'
import type { Gone } from './gone.ts'
import type { Reply } from './reply.ts'
import type { Session } from './session.ts'

/** One message as it came in, over HTTP or on a line. */
export interface Incoming {
  readonly actor: Actor
  /** The one server it is for; undefined for all that the actor may use. */
  readonly scope: string | undefined
  /** Undefined where there are none: on a line. */
  readonly headers: IncomingHttpHeaders | undefined
  readonly body: Buffer
  readonly reply: Reply
  readonly gone: Gone
  /** Whom it comes from, where that is known. */
  readonly session: Session | undefined
}

export interface Asked extends Incoming {
  readonly message: RequestMessage
  readonly params: RawParams
  /** What it is about. */
  readonly name: string | undefined
  readonly modern: boolean
}

/** Who makes it. */
export function callerOf({ actor, session }: Pick<Incoming, 'actor' | 'session'>): Caller {
  return session?.caller ?? { actor }
}

/** As what it is told apart from others whom a server may ask. */
export function clientOf({ actor, session }: Pick<Incoming, 'actor' | 'session'>): string {
  return session?.caller.session ?? agentOf(actor)
}
