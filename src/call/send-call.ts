// A tool call on its way to its server, or to the instance of whoever makes it.

import type { Stopwatch } from '../base/stopwatch.ts'
import type { Connection } from '../connect/connection.ts'
import { type Sending, send } from '../connect/send.ts'
import { memberValue, type NotificationMessage, type ReplyMessage } from '../wire/message.ts'
import { paramHeaderValues } from '../wire/param-headers.ts'
import type { CallOptions, Progress } from './call.ts'
import type { CallContext } from './context.ts'
import { withInstance } from './own-instance.ts'
import type { Asking } from './passage.ts'
import { type Route, recheck } from './route.ts'

/** What is sent for a call. */
export function sendingOf(
  { known, target }: Route,
  text: string,
  { signal, timeout, onProgress }: CallOptions = {},
): Sending {
  const name = target.tool
  return {
    method: 'tools/call',
    inside: `"name":${JSON.stringify(name)},"arguments":${text}`,
    name,
    headers: known.headers.length > 0 ? paramHeaderValues(known.headers, JSON.parse(text)) : undefined,
    signal,
    timeout,
    onNotification: onProgress && progressTo(onProgress),
  }
}

/** Sends it and waits for its answer; the server is started and waited for, if need be. `sent`: nothing is left to wait for; `unsent`: nothing was done of it. */
export function sendCall(
  context: CallContext,
  asking: Asking,
  route: Route,
  sending: Sending,
  clock: Stopwatch,
  sent: () => void,
  unsent: () => void,
): Promise<ReplyMessage> {
  const { connection } = route
  const sendTo = (own: Connection) => {
    const onSend = () => {
      recheck(route, own)
      sent()
    }
    return send(own, { ...sending, onSend, onUnsent: unsent, clock }, context.handlers)
  }
  return connection.instances === undefined
    ? sendTo(connection)
    : withInstance(connection, asking, sending, sendTo)
}

// --- internal ---

function progressTo(onProgress: (progress: Progress) => void) {
  return (message: NotificationMessage) => {
    if (message.method !== 'notifications/progress') return
    const { progress, total, message: text } = (memberValue(message, 'params') ?? {}) as Partial<Progress>
    const told: unknown = onProgress({
      progress: Number(progress),
      ...(total === undefined ? {} : { total }),
      ...(text === undefined ? {} : { message: text }),
    })
    // Its author may have written it as an async function; what goes wrong there must not end the process.
    if (told instanceof Promise) told.catch((error: unknown) => process.emitWarning(String(error)))
  }
}
