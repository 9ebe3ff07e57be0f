// A digest of what a model and a person are told of a tool, to see that it changed since it was approved.

import { sha256 } from '../base/digest.ts'
import { canonical } from '../config/canonical.ts'
import type { Tool } from '../connect/definitions.ts'

/** 32 hexadecimal characters over the tool's definition; the order of keys and unknown members do not count. */
export function fingerprint(tool: Tool): string {
  const { name, title, description, inputSchema, outputSchema, annotations } = tool
  return sha256(canonical({ name, title, description, inputSchema, outputSchema, annotations })).slice(0, 32)
}
