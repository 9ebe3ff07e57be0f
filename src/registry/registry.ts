// All tools there are, native ones and those of servers: told apart, found by address, gone with their server.

import { changed } from '../base/changes.ts'
import { Fault } from '../base/fault.ts'
import type { Connection } from '../connect/connection.ts'
import type { Tool } from '../connect/definitions.ts'
import type { Manager } from '../connect/manager.ts'
import { fingerprint } from './fingerprint.ts'
import { nativeNameProblem } from './names.ts'
import { type NativeTool, nativeDefinition } from './native.ts'

class Entry {
  readonly name: string
  readonly tool: Tool
  #fingerprint: string | undefined

  constructor(tool: Tool) {
    this.name = tool.name
    this.tool = tool
  }

  /** Digest of the definition. Most tools are listed and never called, so it is made when it is asked for. */
  get fingerprint(): string {
    this.#fingerprint ??= fingerprint(this.tool)
    return this.#fingerprint
  }
}

/** A tool of a server. */
export class ServerTool extends Entry {
  readonly kind = 'server'
  readonly server: string
  readonly address: string
  readonly connection: Connection

  constructor(connection: Connection, tool: Tool) {
    super(tool)
    this.connection = connection
    this.server = connection.name
    this.address = `${connection.name}/${tool.name}`
  }
}

/** A tool of this process. */
export class OwnTool extends Entry {
  readonly kind = 'native'
  readonly server = ''
  /** Its name alone. */
  readonly address: string
  readonly native: NativeTool

  constructor(native: NativeTool) {
    super(nativeDefinition(native))
    this.native = native
    this.address = native.name
  }
}

export type RegisteredTool = ServerTool | OwnTool

export class Registry {
  readonly #manager: Manager
  readonly #natives = new Map<string, OwnTool>()
  #changes = 0
  #catalog: { readonly version: number; readonly tools: readonly RegisteredTool[] } | undefined

  constructor(manager: Manager) {
    this.#manager = manager
  }

  /** Grows whenever what there is may have changed. */
  get version(): number {
    return this.#changes + this.#manager.version
  }

  /** Adds a native tool; the returned function takes it away. */
  register(native: NativeTool): () => void {
    const problem = nativeNameProblem(native.name)
    if (problem !== undefined) throw new Fault('USAGE', `a tool cannot be called that: ${problem}`)
    if (typeof native.run !== 'function')
      throw new Fault('USAGE', `${native.name} has nothing to run`, { hint: 'give it a function: run' })
    if (this.#natives.has(native.name))
      throw new Fault('TOOL_EXISTS', `there is a tool ${native.name} already`, {
        hint: 'unregister it first, or choose another name',
      })
    const { name } = native
    const own = new OwnTool(native)
    this.#natives.set(name, own)
    this.#changes += 1
    changed()
    return () => {
      if (this.#natives.get(name) === own) this.unregister(name)
    }
  }

  /** Takes a native tool away; says whether there was one. */
  unregister(name: string): boolean {
    this.#changes += 1
    changed()
    return this.#natives.delete(name)
  }

  native(name: string): OwnTool | undefined {
    return this.#natives.get(name)
  }

  get nativeNames(): ReadonlySet<string> {
    return new Set(this.#natives.keys())
  }

  /** Everything that may be offered now, native tools first. */
  get all(): readonly RegisteredTool[] {
    const { version } = this
    if (this.#catalog?.version !== version) this.#catalog = { version, tools: this.#read() }
    return this.#catalog.tools
  }

  // --- internal ---

  #read(): RegisteredTool[] {
    return [
      ...this.#natives.values(),
      ...this.#manager.connections.flatMap((connection) =>
        connection.tools.map((tool) => serverTool(connection, tool)),
      ),
    ]
  }
}

/** A server's tool as it is registered; the same object as long as the server lists the same. */
export function serverTool(connection: Connection, tool: Tool): ServerTool {
  const known = KNOWN.get(tool)
  if (known?.connection === connection) return known
  const made = new ServerTool(connection, tool)
  KNOWN.set(tool, made)
  return made
}

// --- internal ---

const KNOWN = new WeakMap<Tool, ServerTool>()
