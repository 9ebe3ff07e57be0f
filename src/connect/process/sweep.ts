// Which processes belong to a server, however they were started.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { MARK } from './marker.ts'
import { type Process, readTable, variableOf } from './table.ts'

/** The first process of a server. It leads a group of its own, so its number is the group's, too. */
export interface Leader {
  readonly pid: number
  readonly started: number
}

/** What is known of a server's processes without looking. */
export interface Root {
  readonly leader: Leader | undefined
  readonly marker: string
  /** Nothing that started earlier can belong to it. */
  readonly since: number
}

/** One look at the machine, good for asking about several servers: an environment is read once at most. */
export class Snapshot {
  readonly table: ReadonlyMap<number, Process> = readTable()
  readonly #marks = new Map<number, string | undefined>()
  #children: Map<number, Process[]> | undefined

  /**
   * The living processes of a server: its group, all that carry its mark, those of `known` that still live,
   * and the descendants of them all. Each net has a hole: setsid leaves the group, `env -i` loses the mark,
   * and a process whose parent died is a descendant of nobody.
   */
  members(root: Root, known: Iterable<Process> = []): Process[] {
    const group = this.#groupOf(root)
    const found = new Set<Process>()
    for (const process of this.table.values())
      if (process.group === group || (process.started >= root.since && this.#mark(process) === root.marker))
        found.add(process)
    for (const { pid, started } of known) {
      const process = this.table.get(pid)
      if (process?.started === started) found.add(process)
    }
    for (const process of this.#ownBranch()) found.delete(process)
    this.#addDescendants(found)
    return [...found]
  }

  /** The group's number, unless a stranger has it: no number is given away while its group has members. */
  #groupOf({ leader }: Root): number | undefined {
    if (leader === undefined) return undefined
    const present = this.table.get(leader.pid)
    return present === undefined || present.started === leader.started ? leader.pid : undefined
  }

  #mark({ pid }: Process): string | undefined {
    if (!this.#marks.has(pid)) this.#marks.set(pid, variableOf(pid, MARK))
    return this.#marks.get(pid)
  }

  /** Nobody saws off the branch he sits on: Busbar may itself run below a server of another Busbar. */
  *#ownBranch(): Generator<Process> {
    let next = this.table.get(process.pid)
    for (; next !== undefined; next = this.table.get(next.parent)) yield next
  }

  #addDescendants(found: Set<Process>): void {
    this.#children ??= byParent(this.table)
    // A set hands out what is added while it is walked.
    for (const { pid } of found) for (const child of this.#children.get(pid) ?? []) found.add(child)
  }
}

/**
 * A look taken after it was asked for, and once for all who ask in the same turn: twenty servers that are
 * closed together need two, not forty. Undefined when nothing can be seen because no descriptor is left.
 */
export function freshSnapshot(): Promise<Snapshot | undefined> {
  coming ??= nextTurn().then(() => {
    coming = undefined
    return sighted(() => new Snapshot())
  })
  return coming
}

/** What a look gives; undefined when nothing can be seen because no descriptor is left. */
export function sighted<T>(look: () => T): T | undefined {
  try {
    return look()
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'EMFILE' || error.code === 'ENFILE'))
      return undefined
    throw error
  }
}

// --- internal ---

let coming: Promise<Snapshot | undefined> | undefined

function byParent(table: ReadonlyMap<number, Process>): Map<number, Process[]> {
  const children = new Map<number, Process[]>()
  for (const process of table.values()) {
    const siblings = children.get(process.parent)
    if (siblings === undefined) children.set(process.parent, [process])
    else siblings.push(process)
  }
  return children
}
