// An answer of ours, or of a client, as the server that asked gets it.

import { ERROR } from '../wire/era.ts'
import { type Id, idText } from '../wire/id.ts'
import { withId } from '../wire/message.ts'
import type { Answer } from './answers.ts'
import type { Given } from './asker.ts'

export function answerBody(id: Id, given: Given): string | Buffer {
  return 'reply' in given ? Buffer.concat(withId(given.reply, id)) : answerText(id, given)
}

// --- internal ---

/** A handler may have returned what JSON cannot say. */
function answerText(id: Id, given: Answer): string {
  try {
    if ('error' in given || given.result !== undefined)
      return `{"jsonrpc":"2.0","id":${idText(id)},${JSON.stringify(given).slice(1)}`
  } catch {
    // Told below.
  }
  const error = { code: ERROR.internal, message: 'the answer cannot be written as JSON' }
  return `{"jsonrpc":"2.0","id":${idText(id)},"error":${JSON.stringify(error)}}`
}
