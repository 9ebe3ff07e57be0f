// What people said about later calls: "always this tool", "always this server". Kept in the store, never in their files.

import { changed } from '../base/changes.ts'
import { Fault } from '../base/fault.ts'
import { namesMethod } from '../connect/definitions.ts'
import type { Rule, Rules } from '../store/policy.ts'

export class Memories {
  readonly #rules: Rules
  #all: readonly Rule[]

  private constructor(rules: Rules, all: readonly Rule[]) {
    this.#rules = rules
    this.#all = all
  }

  static async open(rules: Rules): Promise<Memories> {
    return new Memories(rules, await rules.list())
  }

  get all(): readonly Rule[] {
    return this.#all
  }

  /**
   * What was said about a tool: the strictest, and of those the one that says the most about it. `identity` is what runs
   * under the server's name now.
   */
  about(agent: string, server: string, tool: string, identity: string | undefined): Rule | undefined {
    if (this.#all.length === 0) return undefined
    const fitting = this.#all.filter(
      (rule) =>
        rule.server === server &&
        isStill(rule, identity) &&
        (rule.agent === undefined || rule.agent === agent) &&
        (rule.tool === undefined ? coversAll(rule, tool) : rule.tool === tool),
    )
    for (const decision of ['deny', 'ask', 'allow'] as const) {
      const found = fitting.filter((rule) => rule.decision === decision)
      if (found.length > 0) return found.find((rule) => rule.tool !== undefined) ?? found[0]
    }
    return undefined
  }

  async add(rule: Rule): Promise<void> {
    await this.refresh()
    const alike = this.#all.filter(
      (it) =>
        it.agent === rule.agent &&
        it.server === rule.server &&
        it.tool === rule.tool &&
        it.decision === rule.decision,
    )
    if (alike.some((it) => isStill(it, rule.identity))) return
    await this.#rules.add(rule)
    // One of an older version says nothing any more, and now it has been said anew.
    const old = new Set(alike.filter(({ identity }) => identity === undefined))
    for (const { id } of old) await this.#rules.remove(id)
    this.#change([...this.#all.filter((it) => !old.has(it)), rule])
  }

  /** By its id or the end of it. */
  async remove(id: string): Promise<Rule> {
    await this.refresh()
    const found = this.#all.filter((rule) => rule.id === id || (id.length >= 6 && rule.id.endsWith(id)))
    const [rule] = found
    if (rule === undefined || found.length > 1)
      throw new Fault('APPROVAL_UNKNOWN', `no rule has the id ${JSON.stringify(id)}`, {
        hint: 'run: busbar approve rules',
      })
    await this.#rules.remove(rule.id)
    this.#change(this.#all.filter((it) => it.id !== rule.id))
    return rule
  }

  /** Reads them again: another process may have changed them. */
  async refresh(): Promise<void> {
    const now = await this.#rules.list()
    if (JSON.stringify(now) !== JSON.stringify(this.#all)) this.#change(now)
  }

  // --- internal ---

  #change(all: readonly Rule[]): void {
    this.#all = all
    changed()
  }
}

// --- internal ---

/** Whether it was said about what runs now: what a person allowed they did not allow to whatever takes its name. */
function isStill({ decision, server, identity }: Rule, now: string | undefined): boolean {
  return decision !== 'allow' || server === '' || (identity !== undefined && identity === now)
}

/** "Every tool of this server" opens no other requests, such as the use of the caller's model; what it closes, it closes. */
function coversAll({ decision }: Rule, tool: string): boolean {
  return decision !== 'allow' || !namesMethod(tool)
}
