// What is known of one tool's definition: the accepted one, and another one that waits for a person.

import { namesMethod, type Tool } from '../connect/definitions.ts'
import { definitionOf, fingerprint } from '../registry/fingerprint.ts'
import type { PendingPin, Pin } from '../store/policy.ts'

/** A server's instructions are judged as a tool of this name. */
export const INSTRUCTIONS = '#instructions'

/** Takes a server's secrets out of what it says of a tool. */
export type Mask = <T>(definition: T) => T

/** One tool as a server offers it now. */
export class Offer {
  readonly tool: Tool
  readonly fingerprint: string
  readonly #mask: Mask

  constructor(tool: Tool, mask: Mask) {
    this.tool = tool
    this.fingerprint = fingerprint(tool)
    this.#mask = mask
  }

  /** What the fingerprint is over, as JSON, but for secrets: people look at it, and it is kept. */
  get definition(): string {
    return JSON.stringify(this.#mask(definitionOf(this.tool)))
  }
}

/** What a server offers now, by name. */
export function offersOf(
  tools: readonly Tool[],
  instructions: string | undefined,
  mask: Mask,
): ReadonlyMap<string, Offer> {
  const offers = new Map<string, Offer>()
  // A tool that takes the name of the instructions is not judged in their place; it cannot be called either.
  for (const tool of tools) if (!namesMethod(tool.name)) offers.set(tool.name, new Offer(tool, mask))
  if (instructions !== undefined) offers.set(INSTRUCTIONS, new Offer(instructionsTool(instructions), mask))
  return offers
}

/** Instructions in the form in which they are judged. */
export function instructionsTool(instructions: string): Tool {
  return { name: INSTRUCTIONS, description: instructions, inputSchema: {} }
}

export type PinState = 'accepted' | 'changed' | 'removed'

export function stateOf({ pending, removedAt }: Pin): PinState {
  if (removedAt !== undefined) return 'removed'
  return pending === undefined ? 'accepted' : 'changed'
}

/** The pin of a tool that is seen for the first time. */
export function firstPin(server: string, tool: string, offer: Offer, now: number): Pin {
  const { fingerprint: print, definition } = offer
  return { server, tool, fingerprint: print, definition, firstSeen: now, acceptedAt: now }
}

/** A pin after its server offered this (undefined: no longer the tool at all); the same object when nothing changed. */
export function judged(pin: Pin, offer: Offer | undefined, now: number): Pin {
  if (offer === undefined) return pin.removedAt === undefined ? { ...pin, removedAt: now } : pin
  const pending = pendingOf(pin, offer, now)
  if (pending === pin.pending && pin.removedAt === undefined) return pin
  return { ...pin, pending, removedAt: undefined }
}

// --- internal ---

function pendingOf(pin: Pin, offer: Offer, now: number): PendingPin | undefined {
  if (offer.fingerprint === pin.fingerprint) return undefined
  if (offer.fingerprint === pin.pending?.fingerprint) return pin.pending
  return { fingerprint: offer.fingerprint, definition: offer.definition, seenAt: now }
}
