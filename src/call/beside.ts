// What a call brings beside its arguments. It reaches the server, so a person who allows the call is shown it, and the call
// with other things beside it is another one.

import { type RawParams, withoutParams } from '../wire/params.ts'

export interface Beside {
  /** All of it, as the text of one object. */
  readonly all: string
  /** Without what answers a question of the server: that belongs to the question, and not to the call. */
  readonly own: string | undefined
}

/** Undefined where there is nothing, as of nearly every call. */
export function besideIn(params: RawParams): Beside | undefined {
  const { members } = params
  if (members.every(({ key }) => OF_EVERY_CALL.has(key))) return undefined
  const isAnswer = members.every(({ key }) => OF_CALL_OR_ANSWER.has(key))
  return {
    all: withoutParams(params, OF_EVERY_CALL),
    own: isAnswer ? undefined : withoutParams(params, OF_CALL_OR_ANSWER),
  }
}

/** Arguments as they are shown and recorded, with what comes beside them under a name that none of them has. */
export function withBeside(text: string, beside: string | undefined): string {
  if (beside === undefined || !text.trimStart().startsWith('{')) return text
  // However it is written: of two with one name, only one would be shown.
  const plain = text.replace(/\\u([0-9a-f]{4})/gi, (_, code) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  )
  let name = '#params'
  while (plain.includes(name)) name = `#${name}`
  const inside = text.trim().slice(1, -1).trim()
  return `{${inside === '' ? '' : `${inside},`}${JSON.stringify(name)}:${beside}}`
}

// --- internal ---

/** `_meta` belongs to one try: its progress token and trace are others the next time. */
const OF_EVERY_CALL: ReadonlySet<string> = new Set(['name', 'arguments', '_meta'])
const OF_CALL_OR_ANSWER: ReadonlySet<string> = new Set([...OF_EVERY_CALL, 'inputResponses', 'requestState'])
