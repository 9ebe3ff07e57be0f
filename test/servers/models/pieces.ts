// What both APIs do with a scripted answer before they write it their own way.
import type { Say } from './answers.ts'

/** One event as it goes over the wire. */
export type SentEvent = string

export function piecesOf(text: string, { pieces = 7 }: Say): string[] {
  const letters = Array.from(text)
  const torn: string[] = []
  for (let at = 0; at < letters.length; at += pieces) torn.push(letters.slice(at, at + pieces).join(''))
  return torn
}

export function usesOf(say: Say, prefix: string): { id: string; name: string; text: string }[] {
  return (say.uses ?? []).map(({ id, name, arguments: args }) => {
    const text = typeof args === 'string' ? args : JSON.stringify(args)
    return { id: id ?? `${prefix}_${next()}`, name, text }
  })
}

/** Tokens, roughly: what matters is that they are the same each time. */
export function countOf(say: Say): number {
  const uses = (say.uses ?? []).map(({ name, arguments: args }) => name + JSON.stringify(args))
  return tokensOf([say.thinking ?? '', say.text ?? '', ...uses].join(''))
}

export function tokensOf(text: string): number {
  return Math.max(1, Math.ceil(text.length / 4))
}

// --- internal ---

let count = 0

/** Ids of uses must differ within a conversation. */
function next(): number {
  count += 1
  return count
}
