// Whether a client still waits: it may leave by itself, or be sent away.

import { Stopper } from '../base/stop.ts'
import type { ProtocolError } from '../wire/message.ts'

/** Fires when a client has gone. */
export class Gone extends Stopper {
  #why: ProtocolError | undefined
  readonly #sentAway = new Stopper()

  /** Why it was sent away: then it does not come back, and what it asked for is over in both eras. */
  get why(): ProtocolError | undefined {
    return this.#why
  }

  sendAway(why: ProtocolError): void {
    this.#why = why
    this.abort()
    this.#sentAway.abort()
  }

  /**
   * Tells when what it asked for is over: when it is sent away, also after it has left; and when it leaves, where that means
   * so. Returns how to hear no more: a line outlives what is asked on it.
   */
  onOver(isOverByLeaving: boolean, listener: () => void): () => void {
    const stop = isOverByLeaving ? this : this.#sentAway
    if (stop.aborted) listener()
    else stop.addEventListener('abort', listener)
    return () => stop.removeEventListener('abort', listener)
  }
}
