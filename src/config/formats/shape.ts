// What a reader of a format produces: data in the native shape, and for each part that stood elsewhere in the file,
// where that was. Messages and `get` then name the place a person wrote, whatever the format.

import { isRecord } from '../../base/record.ts'
import type { Path } from '../edit/change.ts'

export class Shape {
  readonly data: Record<string, unknown> = {}
  readonly #moved = new Map<string, Path>()

  /** Puts a value at a native path and remembers the path it has in the file. */
  put(target: Path, value: unknown, from: Path): void {
    const last = target.at(-1)
    if (last === undefined) return
    let parent: Record<string, unknown> | unknown[] = this.data
    for (const step of target.slice(0, -1)) parent = child(parent, step)
    assign(parent, last, value)
    this.#moved.set(keyOf(target), from)
  }

  /** Makes sure that a map, or a list, is there, and remembers where it stands in the file. */
  ensure(target: Path, empty: Record<string, unknown> | unknown[], from: Path): void {
    if (this.get(target) === undefined) this.put(target, empty, from)
    else this.#moved.set(keyOf(target), from)
  }

  /** Adds elements to the list at a native path. */
  append(target: Path, values: readonly unknown[], from: Path): void {
    if (!Array.isArray(this.get(target))) this.put(target, [], from)
    const before = this.get(target)
    const length = Array.isArray(before) ? before.length : 0
    let next = length
    values.forEach((value, index) => {
      // A name that stands in two lists which are one here is there once.
      if (typeof value === 'string' && Array.isArray(before) && before.includes(value)) return
      this.put([...target, next++], value, [...from, index])
    })
  }

  get(path: Path): unknown {
    return dig(this.data, path)
  }

  /** Where something at a native path stood in the file. */
  sourceOf(path: Path): Path {
    for (let length = path.length; length > 0; length--) {
      const from = this.#moved.get(keyOf(path, length))
      if (from !== undefined) return [...from, ...path.slice(length)]
    }
    return path
  }
}

/** What stands at a path of plain data, or undefined. */
export function dig(value: unknown, path: Path): unknown {
  let found = value
  for (const step of path) {
    if (Array.isArray(found) && typeof step === 'number') found = found[step]
    else found = isRecord(found) && Object.hasOwn(found, step) ? found[step] : undefined
  }
  return found
}

// --- internal ---

/** A path as a key; no step holds a line break that could be taken for the one between two. */
function keyOf(path: Path, length = path.length): string {
  let key = ''
  for (let index = 0; index < length; index++) key += `${String(path[index]).replaceAll('\n', '\\n')}\n`
  return key
}

function child(parent: Record<string, unknown> | unknown[], step: string | number): Record<string, unknown> {
  const key = String(step)
  const existing = Object.hasOwn(parent, key) ? Reflect.get(parent, key) : undefined
  if (isRecord(existing) || Array.isArray(existing)) return existing as Record<string, unknown>
  const made = {}
  assign(parent, step, made)
  return made
}

/** defineProperty, because assigning to `__proto__` would change the object instead of adding a key. */
function assign(parent: Record<string, unknown> | unknown[], step: string | number, value: unknown): void {
  Object.defineProperty(parent, String(step), { value, enumerable: true, writable: true, configurable: true })
}
