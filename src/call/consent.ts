// A server that wants to use the model of whoever called it: it costs, and it sees what the server says. A person agrees
// first, by the same rules and in the same inbox as for a call.

import type { Stop } from '../base/stop.ts'
import type { ReplyMessage } from '../wire/message.ts'
import { readParams } from '../wire/params.ts'
import { admit } from './admit.ts'
import { askedText, askPerson } from './approve.ts'
import type { CallContext } from './context.ts'
import { type Asking, Passage, unmetered } from './passage.ts'
import { recordReply } from './result.ts'

/** Under way until it is told how it ended. */
export interface Consented {
  answered(reply: ReplyMessage): Promise<void>
  failed(error: unknown): Promise<void>
}

/** Resolves when it may be done; throws why not. */
export async function consent(
  context: CallContext,
  asking: Asking,
  server: string,
  given: string,
  signal: Stop,
): Promise<Consented> {
  const target = { server, tool: '#sampling/createMessage' }
  const read = readParams(Buffer.from(given))
  const params = typeof read === 'string' ? given : askedText(read)
  try {
    const { leave } = admit(context, asking.actor, target)
    if (leave.verdict === 'ask') await askPerson(context, asking, target, { leave }, params, { signal })
  } catch (error) {
    await Passage.refused(context, asking, target, params, error)
    throw error
  }
  const passage = Passage.begin(context, asking, target, params, unmetered(false))
  passage.sent()
  return {
    answered: async (reply) => {
      recordReply(passage, reply, () => '')
      await passage.written()
    },
    failed: async (error) => {
      passage.failed(error)
      await passage.written()
    },
  }
}
