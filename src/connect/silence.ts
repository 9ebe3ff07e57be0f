// What tells a server that is stuck from one that is busy: somebody waited in vain, nothing at all was heard since then,
// and no request from before is still under way that could be what it is busy with.

export class Silence {
  /** The first request of this silence that was given up. */
  #vain: { readonly id: number; readonly since: number; readonly heard: number } | undefined

  /** A request, made at `since`, was given up; `heard`: when the last message came. All on the monotonic clock. */
  add(id: number, since: number, heard: number): void {
    const before = this.#vain
    if (before && before.heard === heard && before.id < id) return
    this.#vain = { id, since: Math.max(since, heard), heard }
  }

  /** Since when somebody waits in vain; `oldest` is the first request under way. Undefined: it may just be busy. */
  since(oldest: number, heard: number): number | undefined {
    const vain = this.#vain
    return vain && vain.heard === heard && vain.id < oldest ? vain.since : undefined
  }
}
