// The processes of one server as one thing that can be signalled and waited for.

import { setTimeout as sleep } from 'node:timers/promises'
import { freshSnapshot, type Root, type Snapshot, sighted } from './sweep.ts'
import { isAlive, type Process } from './table.ts'

export class ProcessTree {
  readonly #root: Root
  // Those seen before: who left the group, lost the mark and then its parent is still known by number.
  #known: readonly Process[]

  constructor(root: Root) {
    const { leader } = root
    this.#root = root
    this.#known = leader === undefined ? [] : [{ ...leader, parent: process.pid, group: leader.pid }]
  }

  /** The members that are alive in a snapshot, or were at the last look when nothing can be seen. */
  look(snapshot: Snapshot | undefined): readonly Process[] {
    this.#known = sighted(() => snapshot?.members(this.#root, this.#known)) ?? this.#known
    return this.#known
  }

  /** The members that are alive now. */
  async members(): Promise<readonly Process[]> {
    return this.look(await freshSnapshot())
  }

  /** Sends a signal to every member known from the last look. */
  signal(name: 'SIGTERM' | 'SIGKILL'): void {
    const group = this.#root.leader?.pid
    const members = this.#known.filter(mayLive)
    // The group at once, so that nobody in it has time to start another.
    if (group !== undefined && members.some((member) => member.group === group)) send(-group, name)
    // One that left the group since it was looked at is killed by number; a second SIGTERM, though, could be
    // taken for impatience.
    for (const member of members) if (member.group !== group || name === 'SIGKILL') send(member.pid, name)
  }

  /**
   * Waits until no member is alive. Only those already known are watched, which is cheap; when they are gone,
   * one look at the whole machine tells whether that was all.
   */
  async gone(withinMs: number): Promise<boolean> {
    const deadline = performance.now() + withinMs
    for (let pause = 2; ; pause = Math.min(2 * pause, 32)) {
      if (!this.#known.some(mayLive) && (await this.members()).length === 0) return true
      const left = deadline - performance.now()
      if (left <= 0) return false
      await sleep(Math.min(pause, left))
    }
  }

  /** Kills until none is left; gives those that are: stuck in the kernel, or not ours to kill. */
  async kill(withinMs: number): Promise<readonly number[]> {
    const deadline = performance.now() + withinMs
    do {
      await this.members()
      this.signal('SIGKILL')
      if (await this.gone(100)) return []
    } while (performance.now() < deadline)
    return this.#known.map(({ pid }) => pid)
  }
}

// --- internal ---

function mayLive(process: Process): boolean {
  return sighted(() => isAlive(process)) ?? true
}

function send(target: number, name: NodeJS.Signals): void {
  try {
    process.kill(target, name)
  } catch (error) {
    // Ended a moment ago, or runs as another user now (sudo).
    if (!(error instanceof Error && 'code' in error && (error.code === 'ESRCH' || error.code === 'EPERM')))
      throw error
  }
}
