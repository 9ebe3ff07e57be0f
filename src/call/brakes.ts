// What stands between a call that somebody may make and its being made: a person who is asked first, and a definition
// that must be the accepted one.

import { Recent } from '../base/recent.ts'
import { ApprovalDesk } from '../policy/approvals.ts'
import { LoopBreaker } from '../policy/loop-breaker.ts'
import { Memories } from '../policy/memories.ts'
import type { PinBoard } from '../policy/pins.ts'
import type { Approval } from '../store/policy.ts'
import type { Store } from '../store/store.ts'
import { ForgetfulApprovals, ForgetfulRules } from './forgetful.ts'

interface BrakesOptions {
  /** Undefined where nothing is kept: then it is all forgotten at the end. */
  readonly store: Pick<Store, 'approvals' | 'rules'> | undefined
  /** Accepted definitions; undefined where nothing is called. */
  readonly pins?: PinBoard | undefined
  /** Milliseconds for which a question can be answered. */
  readonly expiry: () => number
  readonly onApproval: (approval: Approval) => void
  readonly onTrouble: (message: string) => void
}

export class Brakes {
  readonly desk: ApprovalDesk
  readonly memories: Memories
  readonly pins: PinBoard | undefined
  /** Calls that were allowed, and whose servers want to know something first. */
  readonly comingAgain: Recent = new Recent(MOST_COMING)
  /** Stops an agent that makes the same failing call again and again. */
  readonly loops: LoopBreaker = new LoopBreaker()
  #timer: NodeJS.Timeout | undefined

  private constructor(desk: ApprovalDesk, memories: Memories, pins: PinBoard | undefined) {
    this.desk = desk
    this.memories = memories
    this.pins = pins
  }

  static async open({ store, pins, expiry, onApproval, onTrouble }: BrakesOptions): Promise<Brakes> {
    const memories = await Memories.open(store?.rules ?? new ForgetfulRules())
    const approvals = store?.approvals ?? new ForgetfulApprovals()
    const brakes = new Brakes(
      new ApprovalDesk({ approvals, memories, expiry, onChange: onApproval, onTrouble }),
      memories,
      pins,
    )
    if (store) brakes.#follow()
    return brakes
  }

  close(): void {
    clearInterval(this.#timer)
    this.desk.close()
  }

  // --- internal ---

  /** Another process may have remembered or forgotten something. A store that cannot be read now is read the next time. */
  #follow(): void {
    this.#timer = setInterval(() => void this.memories.refresh().catch(() => undefined), FOLLOW_EVERY).unref()
  }
}

/** Milliseconds. */
const FOLLOW_EVERY = 2000
const MOST_COMING = 10_000
