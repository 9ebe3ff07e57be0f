// Tools that run in this process instead of on a server.

import { Fault } from '../base/fault.ts'
import { isRecord } from '../base/record.ts'
import type { Tool } from '../connect/definitions.ts'

/** Who calls a native tool, and how it learns that nobody waits any more. */
export interface NativeCall {
  /** Undefined for the owner. */
  readonly agent: string | undefined
  readonly conversation?: string | undefined
  /** @internal Of the client, where it has one. */
  readonly session?: string | undefined
  readonly signal: AbortSignal
}

export interface NativeTool {
  readonly name: string
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly inputSchema?: Readonly<Record<string, unknown>> | undefined
  readonly outputSchema?: Readonly<Record<string, unknown>> | undefined
  /** Believed as they stand: whoever registers a tool vouches for it. */
  readonly annotations?: Readonly<Record<string, unknown>> | undefined
  /** Only in lists that are written for models; default: in every list. */
  readonly forModels?: boolean | undefined
  /** A person is asked whatever the agent's `approval` is; only what they want remembered goes before. */
  readonly asks?: boolean | undefined
  /** @internal It only does what may be asked of servers without it, so a person is not asked. */
  readonly reads?: boolean | undefined
  /**
   * @internal Serves what an agent may do anyway, by finding, calling or reading on: in no list but where the agent's
   * surface asks for it, and not to be named in `allow`.
   */
  readonly service?: boolean | undefined
  /** Whether it is there for an agent (undefined: the owner) now; default: always. */
  readonly visible?: ((agent: string | undefined) => boolean) | undefined
  /** Returns text, a result as MCP defines it (with `content`), or data. What it throws is told as a failed tool. */
  readonly run: (args: Readonly<Record<string, unknown>>, call: NativeCall) => unknown
}

/** A native tool as it is listed. */
export function nativeDefinition(native: NativeTool): Tool {
  const { name, title, description, inputSchema, outputSchema, annotations } = native
  return {
    name,
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    inputSchema: inputSchema ?? { type: 'object', properties: {} },
    ...(outputSchema === undefined ? {} : { outputSchema }),
    ...(annotations === undefined ? {} : { annotations }),
  }
}

/** What a native tool returned, as a result of MCP. */
export function nativeResult(value: unknown): Record<string, unknown> {
  if (isRecord(value) && Array.isArray(value['content'])) return value
  if (typeof value === 'string') return { content: [{ type: 'text', text: value }] }
  const text = value === undefined ? '' : JSON.stringify(value)
  return {
    content: [{ type: 'text', text: text ?? String(value) }],
    ...(isRecord(value) ? { structuredContent: value } : {}),
  }
}

/** What a native tool threw, as a result: the model reads it and goes on. */
export function nativeFailure(error: unknown): Record<string, unknown> {
  const hint = error instanceof Fault && error.hint !== undefined ? ` (${error.hint})` : ''
  const text = `${error instanceof Error ? error.message : String(error)}${hint}`
  return { content: [{ type: 'text', text }], isError: true }
}
