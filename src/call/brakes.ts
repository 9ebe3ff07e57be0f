// What stands between a call that somebody may make and its being made: a person who is asked first.

import { ApprovalDesk } from '../policy/approvals.ts'
import { Memories } from '../policy/memories.ts'
import type { Approval } from '../store/policy.ts'
import type { Store } from '../store/store.ts'
import { ForgetfulApprovals, ForgetfulRules } from './forgetful.ts'

interface BrakesOptions {
  /** Undefined where nothing is kept: then it is all forgotten at the end. */
  readonly store: Pick<Store, 'approvals' | 'rules'> | undefined
  /** Milliseconds for which a question can be answered. */
  readonly expiry: () => number
  readonly onApproval: (approval: Approval) => void
  readonly onTrouble: (message: string) => void
}

export class Brakes {
  readonly desk: ApprovalDesk
  readonly memories: Memories

  private constructor(desk: ApprovalDesk, memories: Memories) {
    this.desk = desk
    this.memories = memories
  }

  static async open({ store, expiry, onApproval, onTrouble }: BrakesOptions): Promise<Brakes> {
    const memories = await Memories.open(store?.rules ?? new ForgetfulRules())
    const approvals = store?.approvals ?? new ForgetfulApprovals()
    return new Brakes(
      new ApprovalDesk({ approvals, memories, expiry, onChange: onApproval, onTrouble }),
      memories,
    )
  }

  /** Grows with everything that may change what is decided. */
  get version(): number {
    return this.memories.version
  }

  close(): void {
    this.desk.close()
  }
}
