// A second way to a server that speaks both eras: for clients of the older one, who can be asked in the middle of a call
// only by the older rules. Only where it costs no second process, and only once somebody needs it.

import { Fault } from '../base/fault.ts'
import type { Stop } from '../base/stop.ts'
import { Link, type LinkEvents, type LinkOptions } from './link.ts'
import { abortable } from './pause.ts'

export class OlderLink {
  readonly #server: string
  readonly #options: () => Promise<LinkOptions>
  #opening: Promise<Link | undefined> | undefined
  #stop = new AbortController()
  /** It was asked, and does not speak that era. */
  #refused = false

  constructor(server: string, options: () => Promise<LinkOptions>) {
    this.#server = server
    this.#options = options
  }

  /** Undefined when the server speaks only the newer one. What goes wrong is thrown, and tried again the next time. */
  async get(signal: Stop): Promise<Link | undefined> {
    if (this.#refused) return undefined
    this.#opening ??= this.#open(this.#stop.signal)
    return await abortable(this.#opening, signal, this.#server)
  }

  async close(): Promise<void> {
    this.#stop.abort()
    this.#stop = new AbortController()
    const opening = this.#opening
    this.#opening = undefined
    this.#refused = false
    const link = await opening?.catch(() => undefined)
    await link?.close()
  }

  // --- internal ---

  async #open(signal: AbortSignal): Promise<Link | undefined> {
    const forget = () => {
      if (!signal.aborted) this.#opening = undefined
    }
    try {
      const options = await this.#options()
      const events: LinkEvents = {
        ...options.events,
        // It is only a helper: whether the server is well is told by the other.
        closed: forget,
      }
      const link = await Link.connect({ ...options, expected: 'legacy', signal, events })
      if (signal.aborted) {
        await link.close()
        throw new Fault('CONNECTION_LOST', `${this.#server} was disconnected`, { server: this.#server })
      }
      if (link.agreement.era === 'legacy') return link
      this.#refused = true
      await link.close()
      return undefined
    } catch (error) {
      forget()
      throw error
    }
  }
}
