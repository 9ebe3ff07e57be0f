// Cancelling by id, for clients that have no stream of their own to close. Without sessions two clients with the same
// token may use the same id at the same time; then neither can be cancelled, rather than the wrong one.

import { type Stop, Stopper } from '../base/stop.ts'
import type { Actor } from '../policy/access.ts'
import type { Id } from '../wire/message.ts'

interface Cancellation {
  readonly signal: Stop
  close(): void
}

export class Cancellations {
  readonly #open = new Map<string, Set<Stopper>>()

  open(actor: Actor, server: string, id: Id): Cancellation {
    const key = keyOf(actor, server, id)
    const controller = new Stopper()
    const same = this.#open.get(key) ?? new Set()
    same.add(controller)
    this.#open.set(key, same)
    return {
      signal: controller,
      close: () => {
        same.delete(controller)
        if (same.size === 0) this.#open.delete(key)
      },
    }
  }

  cancel(actor: Actor, server: string, id: Id): void {
    const same = this.#open.get(keyOf(actor, server, id))
    if (same?.size === 1) for (const controller of same) controller.abort()
  }
}

// --- internal ---

function keyOf(actor: Actor, server: string, id: Id): string {
  return `${actor.kind === 'owner' ? '' : actor.id}\n${server}\n${JSON.stringify(id)}`
}
