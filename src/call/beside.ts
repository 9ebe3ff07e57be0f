// What a call brings beside its arguments. It reaches the server, so a person who allows the call is shown it, and the call
// with other things beside it is another one.

import type { RawParams } from '../wire/params.ts'

export interface Beside {
  /** All of it, as the text of one object. */
  readonly all: string
  /** Without what answers a question of the server: that belongs to the question, and not to the call. */
  readonly own: string | undefined
}

/** Undefined where there is nothing, as of nearly every call. */
export function besideIn({ bytes, members }: RawParams): Beside | undefined {
  if (members.every(isOfEveryCall)) return undefined
  const more = members.filter((member) => !isOfEveryCall(member))
  const textOf = (some: typeof members) =>
    `{${some.map(({ key, start, end }) => `${JSON.stringify(key)}:${bytes.toString('utf8', start, end)}`).join(',')}}`
  const own = more.filter(({ key }) => !ANSWERS.has(key))
  return { all: textOf(more), own: own.length === 0 ? undefined : textOf(own) }
}

/** Arguments as they are shown and recorded, with what comes beside them under a name that none of them has. */
export function withBeside(text: string, beside: string | undefined): string {
  if (beside === undefined) return text
  let name = '#params'
  while (text.includes(name)) name = `#${name}`
  const inside = text.trim().slice(1, -1).trim()
  return `{${inside === '' ? '' : `${inside},`}${JSON.stringify(name)}:${beside}}`
}

// --- internal ---

/** `_meta` belongs to one try: its progress token and trace are others the next time. */
function isOfEveryCall({ key }: { readonly key: string }): boolean {
  return key === 'arguments' || key === 'name' || key === '_meta'
}

const ANSWERS: ReadonlySet<string> = new Set(['inputResponses', 'requestState'])
