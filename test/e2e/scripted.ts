// Servers in this process whose lists and moods a test sets as it goes, and what an agent sees of them as one.

import { type Answer, type Hub, type HubServer, place } from './hub.ts'

export type Surface = ReturnType<Hub['surfaces']['of']>

/** One agent that may use everything, and is shown everything. */
export const ADA = { ada: { servers: ['*'], approval: 'never', surface: 'full' } }

/** What an agent sees now. */
export function surfaceOf(hub: Hub, agent = 'ada'): Surface {
  return hub.surfaces.of(hub.actor(agent))
}

/** A hub with these servers, each of them up, and what ada sees of them at any time. */
export async function openAll(
  servers: Record<string, Scripted | HubServer>,
  agents: object = ADA,
): Promise<{ hub: Hub; surface: () => Surface }> {
  const entries = Object.entries(servers).map(([name, one]) => [
    name,
    one instanceof Scripted ? one.entry : one,
  ])
  const hub = await place().open({ servers: Object.fromEntries(entries), agents })
  await hub.as().ready()
  return { hub, surface: () => surfaceOf(hub) }
}

export function tool(name: string, more: object = {}): object {
  return { name, inputSchema: { type: 'object' }, ...more }
}

export function pageOf(surface: Surface): Answer[] {
  return JSON.parse(`{${surface.toolsPage().bytes}}`).tools
}

type Lists = {
  tools?: object[]
  prompts?: unknown[]
  resources?: unknown[]
  resourceTemplates?: unknown[]
}

export interface Script extends Lists {
  instructions?: string
  /** What it says that it has; default: tools, and every kind that it was given a list of. */
  capabilities?: Record<string, object>
  /** Items of a page; default: all in one. */
  pageSize?: number
}

export class Scripted {
  /** Can be changed at any time. */
  readonly script: Script
  /** Every request that came, by its method. */
  readonly asked: string[] = []
  /** Methods that are not answered. */
  readonly mute = new Set<string>()
  /** Methods that are refused, with a code. */
  readonly refused = new Map<string, number>()
  #far: Far | undefined
  #held: (() => void)[] = []

  constructor(script: Script = {}) {
    this.script = script
  }

  get entry(): HubServer {
    return {
      type: 'sdk',
      instance: {
        connect: async (transport: never) => {
          this.#far = transport as Far
          this.#far.onmessage = (message) => this.#hear(message)
        },
        close: async () => undefined,
      },
    }
  }

  times(method: string): number {
    return this.asked.filter((one) => one === method).length
  }

  /** Says that a list changed. */
  tell(list: 'tools' | 'prompts' | 'resources'): void {
    void this.#far?.send({ jsonrpc: '2.0', method: `notifications/${list}/list_changed` })
  }

  /** Answers what it has left unanswered. */
  release(): void {
    this.mute.clear()
    for (const answer of this.#held.splice(0)) answer()
  }

  // --- internal ---

  #hear({ id, method, params = {} }: Message): void {
    if (id === undefined) return
    this.asked.push(method)
    const answer = () => void this.#far?.send({ jsonrpc: '2.0', id, ...this.#answer(method, params) })
    if (this.mute.has(method)) this.#held.push(answer)
    else answer()
  }

  #answer(method: string, params: Message['params']): object {
    const { instructions, capabilities, pageSize = Number.POSITIVE_INFINITY } = this.script
    const code = this.refused.get(method)
    if (code !== undefined) return { error: { code, message: 'refused, as asked' } }
    if (method === 'initialize')
      return {
        result: {
          protocolVersion: '2025-11-25',
          capabilities: capabilities ?? this.#capabilities(),
          serverInfo: { name: 'scripted', version: '1' },
          ...(instructions === undefined ? {} : { instructions }),
        },
      }
    if (method === 'ping') return { result: {} }
    const member = MEMBERS[method]
    if (member === undefined) return { error: { code: -32601, message: 'Method not found' } }
    const all = this.script[member] ?? []
    const from = Number(params?.['cursor'] ?? 0)
    const next = from + pageSize
    const more = next < all.length ? { nextCursor: String(next) } : {}
    return { result: { [member]: all.slice(from, next), ...more } }
  }

  #capabilities(): Record<string, object> {
    const { prompts, resources, resourceTemplates } = this.script
    return {
      tools: {},
      ...(prompts ? { prompts: { listChanged: true } } : {}),
      ...(resources || resourceTemplates ? { resources: { listChanged: true } } : {}),
    }
  }
}

interface Message {
  readonly id?: number | string
  readonly method: string
  readonly params?: Record<string, unknown>
}

interface Far {
  onmessage?: (message: Message) => void
  send(message: object): Promise<void>
  close(): Promise<void>
}

const MEMBERS: Record<string, keyof Lists> = {
  'tools/list': 'tools',
  'prompts/list': 'prompts',
  'resources/list': 'resources',
  'resources/templates/list': 'resourceTemplates',
}
