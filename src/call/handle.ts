// What one agent can see and do. It is the only thing that lists or calls, so nothing gets past what is decided for it.

import { Fault } from '../base/fault.ts'
import type { Connection } from '../connect/connection.ts'
import type { ListMethod, Tool } from '../connect/definitions.ts'
import type { ServerStatus } from '../connect/status.ts'
import { promptSection } from '../policy/prompt.ts'
import { projectTool, type ToolFormat } from '../registry/formats/project.ts'
import { displayName, type NamingScheme } from '../registry/names.ts'
import type { RegisteredTool } from '../registry/registry.ts'
import type { Implementation } from '../wire/era.ts'
import { mayReach, reach } from './admit.ts'
import { type CallOptions, call } from './call.ts'
import type { CallContext } from './context.ts'
import type { Asking } from './passage.ts'
import {
  type Listed,
  listOf,
  otherRequest,
  type RequestOptions,
  request,
  type WaitOptions,
} from './request.ts'
import type { CallResult } from './result.ts'
import { estimateFor } from './tariff.ts'
import { isForAll } from './view.ts'
import { whyEmpty } from './why-empty.ts'

/** A tool with the address it is called by. */
export interface AgentTool extends Tool {
  /** `server/tool`; a native tool's name alone. */
  readonly address: string
  /** Empty for a native tool. */
  readonly server: string
  /** Digest of its definition. */
  readonly fingerprint: string
  /** The energy a call will probably take: learned from earlier ones, else guessed. */
  readonly estimate: number | undefined
}

export interface ProjectOptions {
  readonly server?: string | undefined
  /** Whose schemas the tools are written for. */
  readonly format: ToolFormat
  /** How names are written; default: as the agent's entry says. */
  readonly naming?: NamingScheme | undefined
}

/** Tools as a model's provider wants them. */
export interface ProjectedTools {
  readonly tools: readonly Readonly<Record<string, unknown>>[]
  /** What cannot be written for that provider, and why. */
  readonly leftOut: readonly { readonly address: string; readonly reason: string }[]
}

export interface FoundTool {
  readonly address: string
  readonly name: string
  readonly description: string | undefined
  readonly score: number
}

export interface Readiness {
  readonly ready: readonly string[]
  readonly pending: readonly string[]
  readonly failed: readonly { readonly server: string; readonly error: string }[]
}

export class AgentHandle {
  readonly #context: CallContext
  readonly #asking: Asking

  constructor(context: CallContext, asking: Asking) {
    this.#context = context
    this.#asking = asking
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
  tools(server?: string): AgentTool[]
  /** What its model is shown, as `surface` has it, in the form its provider wants; what cannot be written for it is left out: see `toolsFor`. */
  tools(options: ProjectOptions): readonly Readonly<Record<string, unknown>>[]
  tools(which?: string | ProjectOptions): readonly object[] {
    if (typeof which === 'object') return this.toolsFor(which).tools
    return this.#seen(which)
      .filter(isForAll)
      .map((entry) => listed(this.#context, entry))
  }

  /** What its model is shown: named and written as its provider wants them, with the reason for each that is left out. */
  toolsFor({ server, format, naming }: ProjectOptions): ProjectedTools {
    const view = this.#context.views.of(this.#asking.actor)
    const tools: Record<string, unknown>[] = []
    const leftOut: { address: string; reason: string }[] = []
    const entries = server === undefined ? view.listed(true) : this.#seen(server)
    for (const entry of entries) {
      const { inputSchema } = entry.tool
      const projected = projectTool(format, {
        name: view.nameOf(entry, naming),
        ...withDescription(entry),
        inputSchema,
      })
      if (projected.ok) tools.push(projected.tool)
      else leftOut.push({ address: entry.address, reason: projected.reason })
    }
    return { tools, leftOut }
  }

  /** The tools that fit some words best, best first. */
  search(query: string, limit = 10): FoundTool[] {
    const view = this.#context.views.of(this.#asking.actor)
    return view.search(query, limit).map(({ entry, score }) => {
      const { description } = entry.tool
      return { address: entry.address, name: view.nameOf(entry), description, score }
    })
  }

  /** What its prompt says of its servers; empty when there is nothing to say. The lead is also told who has what. */
  promptSection(): string {
    const { actor } = this.#asking
    return actor.kind === 'owner' ? '' : promptSection(this.#context.active(), actor.id)
  }

  /** Why it has no tools at all; undefined when it has some. */
  whyEmpty(): string | undefined {
    return whyEmpty(this.#context, this.#asking.actor)
  }

  /** `server/tool`, a name from `toolsFor`, or a native tool's. */
  call(address: string, args?: unknown, options?: CallOptions): Promise<CallResult> {
    const conversation = options?.conversation
    const wrong = options && wrongTimes(options)
    if (wrong) return Promise.reject(wrong)
    const asking = conversation === undefined ? this.#asking : { ...this.#asking, conversation }
    return call(this.#context, asking, address, args, options)
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

  /** Another request of a server, under the rules for `server/#method`: its result, as the server gives it. */
  async request(
    server: string,
    method: string,
    params: Readonly<Record<string, unknown>> = {},
    options: RequestOptions = {},
  ): Promise<Record<string, unknown>> {
    const wrong = wrongTimes(options)
    if (wrong) throw wrong
    return await otherRequest(this.#context, this.#asking, server, method, params, options)
  }

  /** One server, as this agent may use it. */
  client(server: string): ServerClient {
    const connection = reach(this.#context, this.#asking.actor, server)
    return {
      connect: () => connection.connect(),
      isConnected: () => connection.connected,
      getServerInfo: () => connection.agreement?.serverInfo,
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
      request: (method, params, options) => this.request(server, method, params, options),
    }
  }

  /** The servers it may use. */
  servers(): string[] {
    return this.#connections().map(({ name }) => name)
  }

  // --- internal ---

  #seen(server?: string): readonly RegisteredTool[] {
    const { tools } = this.#context.views.of(this.#asking.actor)
    if (server === undefined) return tools
    reach(this.#context, this.#asking.actor, server)
    return tools.filter((entry) => entry.server === server)
  }

  #connections(): Connection[] {
    const { manager } = this.#context
    return manager.connections.filter(({ name }) => mayReach(this.#context, this.#asking.actor, name))
  }

  async #list(
    method: ListMethod,
    what: 'resources' | 'prompts',
    server: string | undefined,
    options: WaitOptions,
  ): Promise<Listed[]> {
    refuseTimeout(options)
    if (server !== undefined)
      return await listOf(reach(this.#context, this.#asking.actor, server), method, what, options)
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
    refuseTimeout(options)
    return await request(this.#context, this.#asking, server, method, params, name, options)
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
  request(
    method: string,
    params?: Readonly<Record<string, unknown>>,
    options?: RequestOptions,
  ): Promise<Record<string, unknown>>
}

// --- internal ---

function wrongTimes({ timeout, approvalWait }: CallOptions): Fault | undefined {
  const wrong = timeout === undefined ? undefined : wrongTimeout(timeout)
  return wrong ?? (approvalWait === undefined ? undefined : wrongWait(approvalWait))
}

/** The same for a person's answer, which may also not be waited for at all. */
function wrongWait(wait: unknown): Fault | undefined {
  if (typeof wait === 'number' && wait >= 0) return undefined
  const said = typeof wait === 'number' ? String(wait) : JSON.stringify(wait)
  return new Fault('USAGE', `approvalWait is ${said}; expected milliseconds, 0 or more`, {
    hint: 'leave it out to be told at once that a person is asked',
  })
}

/** Why a time is none that can be waited; undefined when it can. For ever is one. */
function wrongTimeout(timeout: unknown): Fault | undefined {
  if (typeof timeout === 'number' && timeout > 0) return undefined
  const said = typeof timeout === 'number' ? String(timeout) : JSON.stringify(timeout)
  return new Fault('USAGE', `timeout is ${said}; expected milliseconds, more than 0`, {
    hint: 'leave it out for what the entry of the server says',
  })
}

function refuseTimeout({ timeout }: WaitOptions): void {
  const wrong = timeout === undefined ? undefined : wrongTimeout(timeout)
  if (wrong) throw wrong
}

function listed(context: CallContext, entry: RegisteredTool): AgentTool {
  const { address, server, name, tool } = entry
  return {
    ...tool,
    address,
    server,
    get fingerprint() {
      return entry.fingerprint
    },
    get estimate() {
      return estimateFor(context, { server, tool: name }, tool)
    },
  }
}

/** A model sees where a tool belongs. */
function withDescription({ server, name, tool }: RegisteredTool): { description?: string } {
  const text = typeof tool.description === 'string' ? tool.description : tool.title
  if (server === '') return text === undefined ? {} : { description: text }
  return { description: text === undefined ? displayName(server, name) : `[${server}] ${text}` }
}
