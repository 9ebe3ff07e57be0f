// A digest of what a model and a person are told of a tool, to see that it changed since it was approved.

import { sha256 } from '../base/digest.ts'
import { canonical } from '../config/canonical.ts'
import type { Tool } from '../connect/definitions.ts'

/** 32 hexadecimal characters over the tool's definition; the order of keys and unknown members do not count. */
export function fingerprint(tool: Tool): string {
  const known = KNOWN.get(tool)
  if (known !== undefined) return known
  const { name, title, description, inputSchema, outputSchema, annotations } = tool
  const definition = { name, title, description, inputSchema, outputSchema, annotations }
  const made = sha256(canonical(definition)).slice(0, 32)
  KNOWN.set(tool, made)
  return made
}

// --- internal ---

/** Definitions are never changed, and each is asked about by several parts. */
const KNOWN = new WeakMap<Tool, string>()
