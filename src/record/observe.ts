// Counts what another engine calls, from the messages it streams: `tool_use` blocks named `mcp__server__tool`, each ended
// by its `tool_result`. Only for calls that do not go through Busbar, which records its own.

import { isRecord } from '../base/record.ts'
import { uuid7 } from '../base/uuid.ts'
import { pairOf } from '../registry/names.ts'
import { Names } from './names.ts'
import type { OpenCall, Recorder } from './recorder.ts'

/** Calls that may be open at a time; of an engine that never answers, the oldest are let go. */
const MAX_OPEN = 1000

export interface ObservedBy {
  readonly agent?: string | undefined
  readonly conversation?: string | undefined
}

export class Observer {
  readonly #recorder: Recorder
  readonly #open = new Map<string, { readonly call: OpenCall; readonly started: number }>()

  constructor(recorder: Recorder) {
    this.#recorder = recorder
  }

  /** Takes one message of the stream, of whatever kind; says how many calls of servers began in it. */
  observe(message: unknown, { agent = '', conversation }: ObservedBy = {}): number {
    let count = 0
    for (const block of blocksOf(message)) {
      if (block['type'] === 'tool_result') this.#end(block)
      const pair = block['type'] === 'tool_use' ? serverTool(block['name']) : undefined
      if (pair === undefined) continue
      count += 1
      const call = this.#recorder.begin({
        id: uuid7(),
        names: new Names(agent, pair.server, pair.tool, 'observed'),
        conversation,
        startedAt: Date.now(),
        requestBytes: 0,
      })
      this.#remember(String(block['id']), call)
    }
    return count
  }

  // --- internal ---

  #remember(id: string, call: OpenCall): void {
    const [oldest] = this.#open.keys()
    if (this.#open.size >= MAX_OPEN && oldest !== undefined) this.#finish(oldest, 'unknown')
    this.#open.set(id, { call, started: performance.now() })
  }

  #end(block: Record<string, unknown>): void {
    this.#finish(String(block['tool_use_id']), block['is_error'] === true ? 'error' : 'ok')
  }

  #finish(id: string, outcome: 'ok' | 'error' | 'unknown'): void {
    const open = this.#open.get(id)
    if (open === undefined) return
    this.#open.delete(id)
    this.#recorder.end(open.call, {
      duration: performance.now() - open.started,
      outcome,
      resultBytes: 0,
      ...(outcome === 'error' ? { code: 'TOOL_FAILED', error: 'the tool failed' } : {}),
    })
  }
}

// --- internal ---

/** Blocks stand in `content`, or in `message.content` as the Claude Agent SDK streams them. */
function blocksOf(message: unknown): Record<string, unknown>[] {
  if (!isRecord(message)) return []
  const { content } = isRecord(message['message']) ? message['message'] : message
  return Array.isArray(content) ? content.filter(isRecord) : []
}

/** What other engines name is not always unambiguous; the first separator counts then. */
function serverTool(name: unknown): { server: string; tool: string } | undefined {
  if (typeof name !== 'string' || !name.startsWith('mcp__')) return undefined
  const pair = pairOf('mcp__s__t', name)
  if (pair) return pair
  const cut = name.indexOf('__', 5)
  return cut > 5 && cut < name.length - 2
    ? { server: name.slice(5, cut), tool: name.slice(cut + 2) }
    : undefined
}
