// What a new configuration changes about the servers, by content: an unchanged server keeps its process.

import { canonical } from './canonical.ts'

export interface ServerDiff {
  readonly added: readonly string[]
  readonly changed: readonly string[]
  readonly removed: readonly string[]
  readonly unchanged: readonly string[]
}

type Servers = Readonly<Record<string, unknown>>

/** Compares two sets of servers; the order of keys means nothing. */
export function diffServers(before: Servers, after: Servers): ServerDiff {
  const names = Object.keys(after)
  const kept = names.filter((name) => Object.hasOwn(before, name))
  const same = (name: string) => canonical(before[name]) === canonical(after[name])
  return {
    added: names.filter((name) => !Object.hasOwn(before, name)),
    changed: kept.filter((name) => !same(name)),
    removed: Object.keys(before).filter((name) => !Object.hasOwn(after, name)),
    unchanged: kept.filter(same),
  }
}
