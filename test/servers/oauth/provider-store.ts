// What the authorization server remembers, for oidc-provider's adapter interface: one store per server, gone with it.

interface Payload {
  grantId?: string
  uid?: string
  userCode?: string
  consumed?: number
}

/** A class for the provider's `adapter` option, all of whose instances share one store. */
export function makeStore(): { Adapter: new (model: string) => StoreAdapter; revokeAll(): string[] } {
  const rows = new Map<string, Payload>()
  return {
    Adapter: class extends StoreAdapter {
      constructor(model: string) {
        super(model, rows)
      }
    },
    /** Forgets every grant with all that hangs on it, as when a user withdraws consent. Gives the grants' ids. */
    revokeAll() {
      const revoked = [...rows.keys()].filter((key) => key.startsWith('Grant:'))
      for (const [key, { grantId }] of rows)
        if (grantId !== undefined || revoked.includes(key)) rows.delete(key)
      return revoked.map((key) => key.slice('Grant:'.length))
    },
  }
}

export class StoreAdapter {
  readonly #model: string
  readonly #rows: Map<string, Payload>

  constructor(model: string, rows: Map<string, Payload>) {
    this.#model = model
    this.#rows = rows
  }

  // Times are the provider's own business: it looks at `exp` itself.
  async upsert(id: string, payload: Payload): Promise<void> {
    this.#rows.set(`${this.#model}:${id}`, { ...payload })
  }

  async find(id: string): Promise<Payload | undefined> {
    return this.#rows.get(`${this.#model}:${id}`)
  }

  async findByUid(uid: string): Promise<Payload | undefined> {
    return this.#first((payload) => payload.uid === uid)
  }

  async findByUserCode(userCode: string): Promise<Payload | undefined> {
    return this.#first((payload) => payload.userCode === userCode)
  }

  async consume(id: string): Promise<void> {
    const payload = await this.find(id)
    if (payload) payload.consumed = Math.floor(Date.now() / 1000)
  }

  async destroy(id: string): Promise<void> {
    this.#rows.delete(`${this.#model}:${id}`)
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    for (const [key, payload] of this.#rows)
      if (key.startsWith(`${this.#model}:`) && payload.grantId === grantId) this.#rows.delete(key)
  }

  // --- internal ---

  #first(wanted: (payload: Payload) => boolean): Payload | undefined {
    for (const [key, payload] of this.#rows)
      if (key.startsWith(`${this.#model}:`) && wanted(payload)) return payload
    return undefined
  }
}
