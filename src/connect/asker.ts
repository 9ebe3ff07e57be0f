// Who is on the other side of a request that is only passed on: the one a server means when it asks back.

import type { Stop } from '../base/stop.ts'
import type { NotificationMessage, ReplyMessage, RequestMessage } from '../wire/message.ts'
import type { Answer } from './answers.ts'

/** An answer of ours, or somebody else's as it came. */
export type Given = Answer | { readonly reply: ReplyMessage }

export interface Asker {
  /** Who it is, also in other requests: a session, or an agent where there is none. */
  readonly client: string
  /** Whether it can be asked anything. Who cannot hears all the same what concerns its request. */
  readonly canAnswer: boolean
  /** What a server asks in the middle of a request. Never rejects; `stop` fires when the answer is not wanted any more. */
  question(message: RequestMessage, stop: Stop): Promise<Given>
  /**
   * What a server says in the middle of a request, outside of its stream; undefined: the way of what belongs to the request.
   * Must not throw.
   */
  readonly remark?: ((message: NotificationMessage) => void) | undefined
  /** Somebody else cannot be served before it has answered, or is given up. Comes again and again; must not throw. */
  awaited?(): void
}
