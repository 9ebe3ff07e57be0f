// A server that is for one client alone asks for folders outside of calls, when it starts for example: they are that
// client's.

import { Stopper } from '../base/stop.ts'
import type { RequestMessage } from '../wire/message.ts'
import type { Asker, Given } from './asker.ts'

/** Milliseconds until the server hears that there are none: it may do nothing before that. */
const PATIENCE = 5_000

/** What its client says; undefined when it says nothing. */
export async function rootsFrom(asker: Asker, message: RequestMessage): Promise<Given | undefined> {
  const stop = new Stopper()
  const timer = setTimeout(() => stop.abort(), PATIENCE).unref()
  try {
    const given = await asker.question(message, stop)
    return 'reply' in given && given.reply.kind === 'result' ? given : undefined
  } finally {
    clearTimeout(timer)
  }
}
