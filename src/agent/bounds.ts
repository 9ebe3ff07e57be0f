// How long one answer of a model can be, whatever the model does. A provider is asked for less, but one that does not
// listen to that, or never ends, must not fill the memory, nor empty the account of whoever asked it.

import type { Tokens } from './model.ts'

/** Tool uses in one answer. */
export const MOST_USES = 64

/** Characters of what it says, thinks and writes as arguments; more than any model makes of so many tokens. */
export function longestAnswer(maxTokens: number): number {
  return maxTokens * CHARACTERS + SLACK
}

/** What was counted, as far as it can be so: `characters` were sent, and no more than `maxTokens` were asked for. */
export function believable(
  tokens: Tokens,
  { characters, maxTokens }: { readonly characters: number; readonly maxTokens: number },
): Tokens {
  return {
    input: between(tokens.input, characters * MOST_PER_CHARACTER + SLACK),
    // Some endpoints do not keep to what they were asked for; more than twice is not paid for.
    output: between(tokens.output, maxTokens * MOST_TOKENS),
  }
}

// --- internal ---

const CHARACTERS = 16
const SLACK = 16_384
/** Rare characters are several tokens each. */
const MOST_PER_CHARACTER = 4
const MOST_TOKENS = 2

function between(count: number, most: number): number {
  return Number.isFinite(count) ? Math.min(Math.max(0, count), most) : count > 0 ? most : 0
}
