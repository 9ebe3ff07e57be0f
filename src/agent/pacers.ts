// One pacer for each agent: agents do not share energy.

import { Pacer } from './pacer.ts'
import type { Level } from './regulator.ts'
import type { Host } from './shell.ts'

export class Pacers {
  readonly #host: Host
  readonly #onPause: (id: string, until: number | undefined, level: number) => void
  readonly #pacers = new Map<string, Pacer>()
  #ended: Error | undefined

  constructor(host: Host, onPause: (id: string, until: number | undefined, level: number) => void) {
    this.#host = host
    this.#onPause = onPause
  }

  of(agent: string): Pacer {
    const name = accountName(agent)
    const known = this.#pacers.get(name)
    if (known) return known
    const level = (): Level | undefined => this.#host.energy?.state(name)
    const pacer = new Pacer({
      energy: level,
      enoughIn: (amount) => this.#host.energy?.untilEnough(name, amount) ?? 0,
      refresh: async () => {
        await this.#host.energy?.refresh(name).catch(() => undefined)
      },
      onPause: (id, milliseconds) =>
        this.#onPause(
          id,
          Number.isFinite(milliseconds) ? Date.now() + milliseconds : undefined,
          level()?.level ?? 0,
        ),
    })
    if (this.#ended) pacer.close(this.#ended)
    this.#pacers.set(name, pacer)
    return pacer
  }

  /** Somebody's energy is another; without a name, everybody's may be. */
  look(agent?: string): void {
    if (agent === undefined) for (const pacer of this.#pacers.values()) pacer.look()
    else this.#pacers.get(accountName(agent))?.look()
  }

  close(reason: Error): void {
    this.#ended = reason
    for (const pacer of this.#pacers.values()) pacer.close(reason)
  }
}

// --- internal ---

/** Workers spend from their agent's account. */
function accountName(agent: string): string {
  return agent.split('/', 1)[0] ?? agent
}
