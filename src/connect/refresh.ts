// Fetches again when something changed, but not a thousand times a second: one at a time, and one more afterwards.

const SPACING = 200

type ListName = 'tools' | 'resources' | 'prompts'

/** The same for each of a server's lists, one apart from the other. */
export class Refreshes {
  readonly #lists: Readonly<Record<ListName, Refresh>>

  /** `fetch` must not throw. */
  constructor(fetch: (list: ListName) => Promise<void>) {
    this.#lists = {
      tools: new Refresh(() => fetch('tools')),
      resources: new Refresh(() => fetch('resources')),
      prompts: new Refresh(() => fetch('prompts')),
    }
  }

  ask(list: ListName): void {
    this.#lists[list].ask()
  }

  /** Fetches at once where it is old, or what was asked for has not come yet; once for all who come meanwhile. */
  now(list: ListName, isOld: boolean): Promise<void> | undefined {
    return this.#lists[list].now(isOld)
  }

  /** How often it was asked for so far, whether or not that was told yet. */
  count(list: ListName): number {
    return this.#lists[list].count
  }
}

// --- internal ---

class Refresh {
  readonly #fetch: () => Promise<void>
  #running = false
  #again = false
  /** How often it had been asked for when what came last was fetched. */
  #fetched = 0
  /** Under way for somebody who waits. */
  #hurried: Promise<void> | undefined
  count = 0

  constructor(fetch: () => Promise<void>) {
    this.#fetch = fetch
  }

  now(isOld: boolean): Promise<void> | undefined {
    if (isOld || this.count > this.#fetched)
      this.#hurried ??= this.#fetch().finally(() => {
        this.#hurried = undefined
      })
    return this.#hurried
  }

  ask(): void {
    this.count += 1
    if (this.#running) this.#again = true
    else void this.#run()
  }

  async #run(): Promise<void> {
    this.#running = true
    do {
      this.#again = false
      const { count } = this
      await this.#fetch()
      this.#fetched = count
      await new Promise((resolve) => setTimeout(resolve, SPACING).unref())
    } while (this.#again)
    this.#running = false
  }
}
