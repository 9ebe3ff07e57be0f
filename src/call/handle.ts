// What one agent can see and do. It is the only thing that lists or calls, so nothing gets past what is decided for it.

import { isRecord } from '../base/record.ts'
import type { Connection } from '../connect/connection.ts'
import { type ListMethod, resultOf, type Tool } from '../connect/definitions.ts'
import { send } from '../connect/send.ts'
import type { ServerStatus } from '../connect/status.ts'
import { type Actor, mayUse } from '../policy/access.ts'
import type { Implementation } from '../wire/era.ts'
import { type CallContext, type CallOptions, call, reach } from './call.ts'
import type { CallResult } from './result.ts'

/** A tool with the address it is called by. */
export interface AgentTool extends Tool {
  /** `server/tool` */
  readonly address: string
  readonly server: string
}

/** Something that a server lists, with the server it is on. */
export type Listed = Readonly<Record<string, unknown>> & { readonly server: string }

export interface Readiness {
  readonly ready: readonly string[]
  readonly pending: readonly string[]
  readonly failed: readonly { readonly server: string; readonly error: string }[]
}

interface WaitOptions {
  readonly signal?: AbortSignal | undefined
  /** Milliseconds. */
  readonly timeout?: number | undefined
}

export class AgentHandle {
  readonly #context: CallContext
  readonly #actor: Actor

  constructor(context: CallContext, actor: Actor) {
    this.#context = context
    this.#actor = actor
  }

  /** Waits until each of its servers is up or has failed, or the time is over. One bad server is an entry, not an error. */
  async ready({ timeout = 30_000 }: { readonly timeout?: number } = {}): Promise<Readiness> {
    const own = this.#connections().filter(({ plan }) => plan.eager)
    let timer: NodeJS.Timeout | undefined
    const over = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, timeout)
    })
    await Promise.race([Promise.all(own.map((connection) => connection.settled())), over])
    clearTimeout(timer)
    const all = own.map((connection) => connection.status())
    return {
      ready: all.filter(({ status }) => status === 'connected').map(({ name }) => name),
      pending: all.filter(({ status }) => status === 'pending').map(({ name }) => name),
      failed: all
        .filter(({ status }) => status === 'failed' || status === 'needs-auth')
        .map(({ name, status, error }) => ({ server: name, error: error ?? status })),
    }
  }

  /** The tools it may call now. Those of servers that are not up yet are known from their last run. */
  tools(server?: string): AgentTool[] {
    return this.#connections(server).flatMap((connection) =>
      connection.tools.map((tool) => ({
        ...tool,
        address: `${connection.name}/${tool.name}`,
        server: connection.name,
      })),
    )
  }

  async call(address: string, args?: unknown, options?: CallOptions): Promise<CallResult> {
    return await call(this.#context, this.#actor, address, args, options)
  }

  /** Resources of one server, or of all that have some. */
  async resources(server?: string, options: WaitOptions = {}): Promise<Listed[]> {
    return await this.#list('resources/list', 'resources', server, options)
  }

  async resourceTemplates(server?: string, options: WaitOptions = {}): Promise<Listed[]> {
    return await this.#list('resources/templates/list', 'resources', server, options)
  }

  async prompts(server?: string, options: WaitOptions = {}): Promise<Listed[]> {
    return await this.#list('prompts/list', 'prompts', server, options)
  }

  /** A resource's contents, as the server gives them. */
  async read(server: string, uri: string, options: WaitOptions = {}): Promise<Record<string, unknown>> {
    return await this.#ask(server, 'resources/read', { uri }, uri, options)
  }

  async getPrompt(
    server: string,
    name: string,
    args: Readonly<Record<string, string>> = {},
    options: WaitOptions = {},
  ): Promise<Record<string, unknown>> {
    return await this.#ask(server, 'prompts/get', { name, arguments: args }, name, options)
  }

  /** Suggestions for an argument of a prompt or a resource template. */
  async complete(
    server: string,
    params: Readonly<Record<string, unknown>>,
    options: WaitOptions = {},
  ): Promise<Record<string, unknown>> {
    return await this.#ask(server, 'completion/complete', params, undefined, options)
  }

  /** One server, as this agent may use it. */
  client(server: string): ServerClient {
    const connection = reach(this.#context, this.#actor, server)
    return {
      connect: () => connection.connect(),
      isConnected: () => connection.connected,
      getServerInfo: () => connection.status().serverInfo,
      status: () => connection.status(),
      listTools: async () => {
        await connection.ready()
        return this.tools(server)
      },
      callTool: (name, args, options) => this.call(`${server}/${name}`, args, options),
      listResources: () => this.resources(server),
      readResource: (uri) => this.read(server, uri),
      listPrompts: () => this.prompts(server),
      getPrompt: (name, args) => this.getPrompt(server, name, args),
    }
  }

  /** The servers it may use. */
  servers(): string[] {
    return this.#connections().map(({ name }) => name)
  }

  // --- internal ---

  #connections(server?: string): Connection[] {
    if (server !== undefined) return [reach(this.#context, this.#actor, server)]
    const assignments = this.#context.assignments()
    return this.#context.manager.connections.filter(({ name }) => mayUse(this.#actor, name, assignments))
  }

  async #list(
    method: ListMethod,
    what: 'resources' | 'prompts',
    server: string | undefined,
    options: WaitOptions,
  ): Promise<Listed[]> {
    if (server !== undefined)
      return await listOf(reach(this.#context, this.#actor, server), method, what, options)
    // Of many, those that are up: one that is down must not keep the others waiting.
    const up = this.#connections().filter(({ connected }) => connected)
    const lists = await Promise.allSettled(up.map((connection) => listOf(connection, method, what, options)))
    return lists.flatMap((list) => (list.status === 'fulfilled' ? list.value : []))
  }

  async #ask(
    server: string,
    method: string,
    params: Readonly<Record<string, unknown>>,
    name: string | undefined,
    options: WaitOptions,
  ): Promise<Record<string, unknown>> {
    const connection = reach(this.#context, this.#actor, server)
    const inside = JSON.stringify(params).slice(1, -1)
    const reply = await send(connection, { method, inside, name, ...options }, this.#context.handlers)
    return resultOf(server, method, reply)
  }
}

export interface ServerClient {
  connect(): Promise<void>
  isConnected(): boolean
  getServerInfo(): Implementation | undefined
  status(): ServerStatus
  listTools(): Promise<AgentTool[]>
  callTool(name: string, args?: unknown, options?: CallOptions): Promise<CallResult>
  listResources(): Promise<Listed[]>
  readResource(uri: string): Promise<Record<string, unknown>>
  listPrompts(): Promise<Listed[]>
  getPrompt(name: string, args?: Readonly<Record<string, string>>): Promise<Record<string, unknown>>
}

// --- internal ---

async function listOf(
  connection: Connection,
  method: ListMethod,
  what: 'resources' | 'prompts',
  { signal, timeout }: WaitOptions,
): Promise<Listed[]> {
  const link = connection.live ?? (await connection.ready(signal))
  if (!link.offers(what)) return []
  const { items } = await link.list(method, { signal, idle: timeout ?? connection.plan.timeouts.call })
  return items.filter(isRecord).map((item) => ({ ...item, server: connection.name }))
}
