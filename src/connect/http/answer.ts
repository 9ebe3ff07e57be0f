// What an answer over http holds, seen from outside: whose it is, and whether it is several.

import { idOfCut, quickResult } from '../../wire/ends.ts'
import { type Id, readMessage } from '../../wire/message.ts'
import { scanHead } from '../../wire/scan.ts'

/** The id a reply answers to; undefined for requests and notifications. Reads no more than the ends where it can. */
export function replyIdOf(bytes: Buffer): Id | undefined {
  const quick = quickResult(bytes)
  if (quick !== undefined) return quick.id
  const head = bytes.subarray(0, HEAD)
  let id: Id | undefined
  for (const { key, start, end } of scanHead(head)) {
    if (key === 'method') return undefined
    // An id that is no scalar is none.
    if (key === 'id' && end >= 0) id = JSON.parse(head.toString('latin1', start, end)) as Id
    else if (key === 'result' || key === 'error') {
      const found = id ?? idOfCut(head, bytes)
      if (found !== undefined) return found
    }
  }
  const message = readMessage(bytes)
  return message.kind === 'result' || message.kind === 'error' ? message.id : undefined
}

/** Whether a reply with `found` is the one to `id`. Some servers send ids back as text. */
export function isSameId(found: Id | undefined, id: number | undefined): boolean {
  return found === id || (typeof found === 'string' && found === String(id))
}

// --- internal ---

const HEAD = 512
