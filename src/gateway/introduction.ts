// What one server tells models of itself, on its way to a client: only as long as that is what was accepted. It is judged as
// it stands in this very answer, as its tools are: the server may have said something else before.

import { argumentsProblem } from '../call/arguments.ts'
import type { Hub } from '../hub.ts'
import { memberValue, type ReplyMessage, readMessage, slice } from '../wire/message.ts'

/** Undefined where it is not the accepted text. */
export function acceptedInstructions({ pins }: Hub, server: string, text: unknown): string | undefined {
  if (typeof text !== 'string') return undefined
  return pins.instructionsVerdict(server, text) === 'changed' ? undefined : text
}

/** The answer to a `server/discover`. */
export function judgedIntroduction(hub: Hub, server: string, answer: ReplyMessage): ReplyMessage {
  const said = answer.kind === 'result' ? slice(answer, 'result') : undefined
  if (said === undefined) return answer
  const { instructions, ...result } = memberValue(answer, 'result') as Record<string, unknown>
  const accepted = acceptedInstructions(hub, server, instructions)
  // With a key there twice a client may take the other one than was judged, so it is written anew.
  if (accepted === instructions && argumentsProblem(said) === undefined) return answer
  const given = accepted === undefined ? result : { ...result, instructions: accepted }
  return readMessage(
    Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: answer.id, result: given })),
  ) as ReplyMessage
}
