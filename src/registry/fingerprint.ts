// A digest of what a model and a person are told of a tool, to see that it changed since it was approved.

import { sha256 } from '../base/digest.ts'
import { canonical } from '../config/canonical.ts'
import type { Tool } from '../connect/definitions.ts'

/** 32 hexadecimal characters over the tool's definition; the order of keys does not count. */
export function fingerprint(tool: Tool): string {
  const known = KNOWN.get(tool)
  if (known !== undefined) return known
  const made = sha256(canonical(definitionOf(tool))).slice(0, 32)
  KNOWN.set(tool, made)
  return made
}

/**
 * What the fingerprint is over: all of it, for a client may show its model members that nobody here knows, but for what is
 * made for programs and for the eye.
 */
export function definitionOf(tool: Tool): Record<string, unknown> {
  const { name, title, description, inputSchema, outputSchema, annotations, ...others } = tool as Tool &
    Record<string, unknown>
  const { _meta, icons, ...more } = others
  return { name, title, description, inputSchema, outputSchema, annotations, ...more }
}

// --- internal ---

/** Definitions are never changed, and each is asked about by several parts. */
const KNOWN = new WeakMap<Tool, string>()
