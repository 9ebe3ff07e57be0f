// Shows the board what servers list: as soon as it is open, and whenever one of them was asked.

import type { Connection } from '../connect/connection.ts'
import type { Manager, ManagerEvent } from '../connect/manager.ts'
import type { Pins } from '../store/policy.ts'
import { PinBoard, type PinBoardOptions } from './pins.ts'

export class PinWatch {
  readonly #manager: Manager
  #board: PinBoard | undefined

  constructor(manager: Manager) {
    this.#manager = manager
  }

  get board(): PinBoard {
    if (this.#board === undefined) throw new Error('the hub has not started')
    return this.#board
  }

  /** Servers may have listed their tools already. Without a store, pins last as long as the board. */
  async open(store: Pins | undefined, options: PinBoardOptions): Promise<void> {
    const mask = (server: string) => {
      const secrets = this.#manager.find(server)?.plan.secrets
      return <T>(definition: T) => secrets?.shown(definition) ?? definition
    }
    this.#board = await PinBoard.open(store, { ...options, mask })
    for (const connection of this.#manager.connections) this.#show(connection)
  }

  /** To be told before anybody else: whoever hears of new tools finds them judged. */
  hear(event: ManagerEvent): void {
    if (event.type === 'tools-change') this.#show(this.#manager.find(event.server))
  }

  async close(): Promise<void> {
    await this.#board?.close()
  }

  // --- internal ---

  #show(connection: Connection | undefined): void {
    const { name, listed, agreement } = connection ?? {}
    if (name !== undefined && listed !== undefined) this.#board?.see(name, listed, agreement?.instructions)
  }
}
