// The servers of a hub as a program meets them: what became of each, and what may be done with it.

import { Fault } from './base/fault.ts'
import { isRecord } from './base/record.ts'
import type { Program } from './config/tree.ts'
import type { Connection } from './connect/connection.ts'
import { DRAIN } from './connect/gate.ts'
import type { HubConfig, HubServer } from './connect/instances.ts'
import { type Login, type LoginOptions, type Logout, login, logout } from './connect/login.ts'
import type { Applied, Manager } from './connect/manager.ts'
import type { ServerStatus } from './connect/status.ts'
import type { HubOptions, Next } from './hub-options.ts'

/** What the servers' part of a hub asks of the rest of it. */
interface Rest {
  readonly manager: Manager
  /** Makes the hub follow another configuration, which came by one of these. */
  apply(next: Next, by: Program): Promise<Applied>
  /** Whether servers start by themselves, or have. */
  isStarted(): boolean
  /** Everything but the servers, as it was accepted. */
  settings(): HubConfig
}

export class HubServers {
  readonly #rest: Rest

  constructor(rest: Rest) {
    this.#rest = rest
  }

  // Fields, not methods: each may be handed on by itself.
  readonly status = (): ServerStatus[] => this.#rest.manager.status()
  readonly get = (name: string): ServerStatus => this.#rest.manager.get(name).status()
  readonly connectAll = (): Promise<void> => this.#rest.manager.connectAll()
  /** Starts it; its status tells what became of it. */
  readonly connect = (name: string): Promise<ServerStatus> => this.#do(name, (it) => it.connect())
  /** Stops it, after calls that are under way, within bounds; the next call starts it again. */
  readonly disconnect = (name: string): Promise<ServerStatus> => this.#do(name, (it) => it.disconnect(DRAIN))
  readonly reconnect = (name: string): Promise<ServerStatus> => this.#do(name, (it) => it.reconnect())
  /** Hides its tools (false) or shows them (true); the connection stays. */
  readonly toggle = (name: string, visible: boolean): Promise<ServerStatus> =>
    this.#do(name, (it) => it.toggle(visible))
  /** Takes its tools at once, and stops it as `disconnect` does, until it is enabled. */
  readonly disable = (name: string): Promise<ServerStatus> => this.#do(name, (it) => it.disable(DRAIN))
  readonly enable = (name: string): Promise<ServerStatus> => this.#do(name, (it) => it.enable())
  /**
   * Makes the hub follow another configuration; without an argument, the same files as they are now. A server that is
   * wrong by itself is in errors; what is wrong otherwise is thrown, and nothing has changed.
   */
  readonly apply = (config?: string | HubConfig): Promise<Applied> => this.#rest.apply(config, 'apply')
  /**
   * Replaces the servers and nothing else. One that changed counts as added; one that failed, or cannot be understood, is
   * in errors, too.
   */
  readonly setServers = async (
    servers: Readonly<Record<string, HubServer>>,
  ): Promise<{ added: string[]; removed: string[]; errors: Record<string, string> }> => {
    if (!isRecord(servers)) throw new Fault('USAGE', 'setServers wants a map of servers by name')
    const next = (config: HubOptions['config']) => ({
      // Of files, everything else stays as it was accepted.
      ...(typeof config === 'object' ? config : this.#rest.settings()),
      servers,
      // Its other name must not bring back what is replaced.
      mcpServers: {},
    })
    const { added, changed, removed, errors } = await this.#rest.apply(next, 'setServers')
    return { added: [...added, ...changed], removed: [...removed], errors: { ...errors } }
  }

  /** Has a person sign in to it, and starts it again with what came of that. */
  readonly login = async (name: string, options: LoginOptions): Promise<Login> => {
    const connection = this.#rest.manager.get(name)
    const done = await login(connection, options)
    await this.#again(connection)
    return done
  }
  /** Forgets how it was signed in to, has the token taken back where that can be done, and starts it again without. */
  readonly logout = async (name: string, options: { account?: string } = {}): Promise<Logout> => {
    const connection = this.#rest.manager.get(name)
    const done = await logout(connection, options.account)
    await this.#again(connection)
    return done
  }

  // --- internal ---

  /** Only what was started: a program that only signs in starts nothing. */
  async #again(connection: Connection): Promise<void> {
    if (connection.status().status === 'disabled' || !this.#rest.isStarted()) return
    await connection.reconnect()
  }

  async #do(name: string, action: (connection: Connection) => Promise<void>): Promise<ServerStatus> {
    const connection = this.#rest.manager.get(name)
    await action(connection)
    return connection.status()
  }
}
