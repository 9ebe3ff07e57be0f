// Configuration data in which every value knows which file it came from and where it stood there. Layers are merged as
// trees, so `get` and every message can name the file and line of each value.

import { isRecord } from '../base/record.ts'
import type { Position } from './document.ts'
import type { Path } from './edit/change.ts'
import type { Shape } from './formats/shape.ts'

/** Stand for a file where a program gave the configuration as data: what it called. */
export type Program = 'createHub' | 'apply' | 'setServers'

/** One place configuration comes from: a file, a flag, the environment. */
export interface Origin {
  /** A path, or a name such as `--mcp-server`. */
  readonly file: string
  readonly scope: Scope
  readonly position: (path: Path) => Position | undefined
}

export type Scope = 'managed' | 'user' | 'project' | 'local' | 'flag' | 'environment' | 'catalog'

export interface Place {
  readonly origin: Origin
  /** The path inside the file. */
  readonly path: Path
}

export type Tree =
  | { readonly kind: 'map'; readonly place: Place; readonly entries: ReadonlyMap<string, Tree> }
  | { readonly kind: 'list'; readonly place: Place; readonly items: readonly Tree[] }
  | { readonly kind: 'value'; readonly place: Place; readonly value: unknown }

/** Whether a program gave it. No file is called so: they have whole paths. */
export function isOfProgram({ file }: Origin): boolean {
  return PROGRAMS.has(file)
}

const PROGRAMS: ReadonlySet<string> = new Set<Program>(['createHub', 'apply', 'setServers'])

/** A shape as a tree. */
export function treeOf(shape: Shape, origin: Origin): Tree {
  const build = (value: unknown, path: Path): Tree => {
    const place = lazyPlace(origin, shape, path)
    if (Array.isArray(value))
      return { kind: 'list', place, items: value.map((item, index) => build(item, [...path, index])) }
    if (!isRecord(value)) return { kind: 'value', place, value }
    const entries = new Map(Object.entries(value).map(([key, item]) => [key, build(item, [...path, key])]))
    return { kind: 'map', place, entries }
  }
  return build(shape.data, [])
}

/** Most places are never asked for, and finding one costs more than the rest of its node. */
function lazyPlace(origin: Origin, shape: Shape, path: Path): Place {
  let found: Path | undefined
  return {
    origin,
    get path() {
      found ??= shape.sourceOf(path)
      return found
    },
  }
}

/** The data without its places. */
export function plain(tree: Tree): unknown {
  switch (tree.kind) {
    case 'value':
      return tree.value
    case 'list':
      return tree.items.map(plain)
    case 'map':
      return Object.fromEntries([...tree.entries].map(([key, item]) => [key, plain(item)]))
  }
}

/** The tree at a path, or undefined. */
export function subtree(tree: Tree, path: Path): Tree | undefined {
  let found: Tree | undefined = tree
  for (const step of path) {
    if (found?.kind === 'map') found = found.entries.get(String(step))
    else if (found?.kind === 'list' && typeof step === 'number') found = found.items[step]
    else return undefined
  }
  return found
}

/** Where a path stands: its own place or, for what is absent, its nearest parent's with the rest of the path. */
export function placeOf(tree: Tree, path: Path): Place {
  for (let length = path.length; length > 0; length--) {
    const found = subtree(tree, path.slice(0, length))
    if (found) return { origin: found.place.origin, path: [...found.place.path, ...path.slice(length)] }
  }
  return { origin: tree.place.origin, path }
}

/** A copy without the entry at a path of map keys. */
export function without(tree: Tree, path: Path): Tree {
  const [step, ...rest] = path
  if (step === undefined || tree.kind !== 'map') return tree
  const key = String(step)
  const child = tree.entries.get(key)
  if (child === undefined) return tree
  const entries = new Map(tree.entries)
  if (rest.length === 0) entries.delete(key)
  else entries.set(key, without(child, rest))
  return { ...tree, entries }
}

/** A copy without these entries of one section. */
export function withoutAll(tree: Tree, section: string, names: ReadonlySet<string>): Tree {
  const map = subtree(tree, [section])
  if (names.size === 0 || tree.kind !== 'map' || map?.kind !== 'map') return tree
  const entries = new Map([...map.entries].filter(([name]) => !names.has(name)))
  return { ...tree, entries: new Map(tree.entries).set(section, { ...map, entries }) }
}

/** Every list and value with its path. */
export function* leaves(tree: Tree, path: Path = []): Generator<{ path: Path; tree: Tree }> {
  if (tree.kind === 'map' && tree.entries.size > 0) {
    for (const [key, child] of tree.entries) yield* leaves(child, [...path, key])
  } else yield { path, tree }
}
