// Finds the one place in a parsed file where a change happens. YAML and JSON share it; they differ in the splices.

import { listIndex, nest } from './apply.ts'
import type { Change, Path } from './change.ts'

export interface Tree<T> {
  readonly kind: 'map' | 'list' | 'null' | 'scalar'
  readonly entries: readonly { readonly key: string | undefined; readonly value: T }[]
  /** What an alias stands for: edits below the alias happen there. */
  readonly anchored?: T | undefined
}

export type Step<T> =
  | { readonly kind: 'replace'; readonly target: T; readonly value: unknown }
  /** A new last entry; without a key it is a list's element. */
  | {
      readonly kind: 'insert'
      readonly into: T
      readonly key: string | number | undefined
      readonly value: unknown
    }
  | { readonly kind: 'remove'; readonly from: T; readonly index: number }

/** The step that makes the change. The change must alter the data: `applyChange` has been asked before. */
export function planStep<T extends Tree<T>>(root: T, change: Change): Step<T> | undefined {
  const { node, depth } = reach(root, change.path)
  const inside = node.anchored ?? node
  const found = depth === change.path.length
  switch (change.kind) {
    case 'delete':
      return removal(root, change.path)
    case 'append':
      if (found && inside.kind === 'list') return insert(inside, undefined, change.value)
      return put(node, found, change.path.slice(depth), [change.value])
    case 'set':
      return put(node, found, change.path.slice(depth), change.value)
    case 'drop':
      // Made as one removal after another.
      return undefined
  }
}

// --- internal ---

function put<T extends Tree<T>>(node: T, found: boolean, missing: Path, value: unknown): Step<T> {
  const inside = node.anchored ?? node
  const segment = missing[0]
  if (found || segment === undefined) return { kind: 'replace', target: node, value }
  if (inside.kind === 'map') return insert(inside, segment, nest(missing.slice(1), value))
  if (inside.kind === 'list') return insert(inside, undefined, nest(missing.slice(1), value))
  return { kind: 'replace', target: node, value: nest(missing, value) }
}

function insert<T>(into: T, key: string | number | undefined, value: unknown): Step<T> {
  return { kind: 'insert', into, key, value }
}

function removal<T extends Tree<T>>(root: T, path: Path): Step<T> | undefined {
  const { node, depth } = reach(root, path.slice(0, -1))
  const segment = path.at(-1)
  if (segment === undefined || depth < path.length - 1) return undefined
  const from = node.anchored ?? node
  const index = indexOf(from, segment)
  return index < 0 ? undefined : { kind: 'remove', from, index }
}

/** The deepest node on the path that exists, and how many segments lead to it. */
function reach<T extends Tree<T>>(root: T, path: Path): { node: T; depth: number } {
  let node = root
  for (const [depth, segment] of path.entries()) {
    const inside = node.anchored ?? node
    const child = inside.entries[indexOf(inside, segment)]
    if (child === undefined) return { node, depth }
    node = child.value
  }
  return { node, depth: path.length }
}

function indexOf<T>(tree: Tree<T>, segment: string | number): number {
  if (tree.kind === 'list') {
    const index = listIndex(segment)
    return index < tree.entries.length ? index : -1
  }
  return tree.entries.findIndex((entry) => entry.key === String(segment))
}
