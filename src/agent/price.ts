// What a model takes: tokens times a price, in energy. Time is not counted: a slow provider is nobody's effort.

import type { OwnAgent } from '../config/schema-own-agent.ts'
import type { ModelMessage, Tokens, ToolOffer } from './model.ts'

export interface Price {
  /** Energy for 1000 tokens. */
  readonly input: number
  readonly output: number
}

const NORMAL: Price = { input: 0.2, output: 1 }
const CHEAP: Price = { input: 0.05, output: 0.25 }

export function priceOf({ model, cheap }: OwnAgent, which: 'normal' | 'cheap'): Price {
  return which === 'normal' ? (model.price ?? NORMAL) : (cheap.price ?? CHEAP)
}

export function costOf({ input, output }: Tokens, price: Price): number {
  return (input * price.input + output * price.output) / 1000
}

/** Tokens that a text will probably be, where nobody counts them. */
export function tokensOf(characters: number): number {
  return Math.ceil(characters / 4)
}

/** How many a request will probably be. */
export function requestTokens(request: {
  readonly system: string
  readonly messages: readonly ModelMessage[]
  readonly tools: readonly ToolOffer[]
}): number {
  return tokensOf(
    request.system.length + JSON.stringify(request.messages).length + JSON.stringify(request.tools).length,
  )
}
