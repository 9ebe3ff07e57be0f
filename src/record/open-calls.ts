// Calls that have begun and not ended, in the order in which they began. Each is a link of one chain, so that coming and
// going costs nothing but two references, and nothing is left behind.

import type { OpenCall } from './line.ts'

export class OpenCalls {
  size = 0
  #first: OpenCall | undefined
  #last: OpenCall | undefined

  add(call: OpenCall): void {
    const last = this.#last
    call.before = last
    if (last === undefined) this.#first = call
    else last.after = call
    this.#last = call
    call.isOpen = true
    this.size += 1
  }

  /** Takes it out; false when it is not there. */
  remove(call: OpenCall): boolean {
    if (!call.isOpen) return false
    const { before, after } = call
    if (before === undefined) this.#first = after
    else before.after = after
    if (after === undefined) this.#last = before
    else after.before = before
    // Or one that is kept would keep all that came after it.
    call.before = undefined
    call.after = undefined
    call.isOpen = false
    this.size -= 1
    return true
  }

  /** All of them, as they are now. */
  all(): OpenCall[] {
    const calls: OpenCall[] = []
    for (let call = this.#first; call !== undefined; call = call.after) calls.push(call)
    return calls
  }
}
