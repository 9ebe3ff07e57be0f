// What a change means for plain data. The text edit is held against this, so it knows nothing of any syntax.

import { isDeepStrictEqual } from 'node:util'
import { Fault } from '../../base/fault.ts'
import { pathText } from '../problem.ts'
import type { Change, Path } from './change.ts'

/** The data after the change; objects that stood in several places (YAML aliases) change in all of them. */
export function applyChange(data: unknown, change: Change): unknown {
  switch (change.kind) {
    case 'set':
      return withValue(data, change.path, change.value)
    case 'delete':
      return withoutValue(data, change.path)
    case 'append':
      return withElement(data, change.path, change.value)
    case 'drop':
      return withoutElements(data, change.path, change.value)
  }
}

/** The value under the given keys, outermost first. */
export function nest(path: Path, value: unknown): unknown {
  return path.reduceRight<unknown>((inner, segment) => ({ [String(segment)]: inner }), value)
}

/** Which element a path segment means; -1 when it is no index. */
export function listIndex(segment: string | number): number {
  return /^(0|[1-9]\d*)$/.test(String(segment)) ? Number(segment) : -1
}

/** A list or map with members, none of which is a list or map again: short enough for one line. */
export function isShallow(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const members = Object.values(value)
  return members.length > 0 && members.every((member) => typeof member !== 'object' || member === null)
}

// --- internal ---

type Holder = unknown[] | Record<string, unknown>

function withValue(data: unknown, path: Path, value: unknown): unknown {
  let holder = data
  for (const [depth, segment] of path.entries()) {
    if (holder === undefined || holder === null) return nest(path, value)
    const child = childOf(holder, segment)
    const rest = path.slice(depth + 1)
    if (rest.length === 0 || child === undefined || child === null) {
      // A merged-in map would be hidden by a new one of the same name that holds only this value.
      if (rest.length > 0 && child === undefined) refuseInherited(holder, path, depth)
      return substitute(data, holder, withChild(holder, path, depth, nest(rest, value)))
    }
    holder = child
  }
  return value
}

function withoutValue(data: unknown, path: Path): unknown {
  const segment = path.at(-1)
  if (segment === undefined)
    throw refusal('the whole file cannot be deleted', 'delete the keys in it, or the file')
  const parent = path.slice(0, -1)
  const holder = parent.reduce<unknown>(childOf, data)
  // Even where the key is written as well: without it the merged-in value would come through.
  refuseInherited(holder, path, parent.length)
  if (childOf(holder, segment) === undefined) return data
  if (Array.isArray(holder)) return substitute(data, holder, holder.toSpliced(listIndex(segment), 1))
  if (!isMap(holder)) return data
  const kept = Object.entries(holder).filter(([key]) => key !== String(segment))
  return substitute(data, holder, Object.fromEntries(kept))
}

function withElement(data: unknown, path: Path, value: unknown): unknown {
  const list = path.reduce<unknown>(childOf, data)
  if (list === undefined || list === null) {
    const holder = path.slice(0, -1).reduce<unknown>(childOf, data)
    if (list === undefined && path.length > 0) refuseInherited(holder, path, path.length - 1)
    return withValue(data, path, [value])
  }
  if (!Array.isArray(list)) throw wrongKind(path, list, 'list')
  if (list.some((element) => isDeepStrictEqual(element, value))) return data
  return substitute(data, list, [...list, value])
}

function withoutElements(data: unknown, path: Path, value: unknown): unknown {
  const list = path.reduce<unknown>(childOf, data)
  if (!Array.isArray(list)) return data
  return substitute(
    data,
    list,
    list.filter((element) => !isDeepStrictEqual(element, value)),
  )
}

function withChild(holder: unknown, path: Path, depth: number, value: unknown): Holder {
  const segment = path[depth] ?? ''
  if (isMap(holder)) return { ...holder, [String(segment)]: value }
  if (!Array.isArray(holder)) throw wrongKind(path.slice(0, depth), holder, 'map')
  const index = listIndex(segment)
  if (index < 0 || index > holder.length) {
    const hint = `use a number from 0 to ${holder.length}`
    throw refusal(`${pathText(path.slice(0, depth))} is a list and has no place ${segment}`, hint)
  }
  return index === holder.length ? [...holder, value] : holder.with(index, value)
}

/** A member of a map or list. */
export function childOf(holder: unknown, segment: string | number): unknown {
  if (Array.isArray(holder)) return holder[listIndex(segment)]
  return isMap(holder) && Object.hasOwn(holder, segment) ? holder[segment] : undefined
}

function isMap(data: unknown): data is Record<string, unknown> {
  // Tagged YAML can hold sets and byte arrays, which have no keys to edit.
  return typeof data === 'object' && data !== null && Object.getPrototypeOf(data) === Object.prototype
}

/** Replaces one object by another wherever it stands; by identity, since an alias is the same object again. */
function substitute(data: unknown, from: unknown, to: unknown): unknown {
  const done = new Map<unknown, unknown>([[from, to]])
  const visit = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value
    if (done.has(value)) return done.get(value)
    let result: unknown = value
    if (Array.isArray(value)) result = value.map(visit)
    else if (isMap(value))
      result = Object.fromEntries(Object.entries(value).map(([key, at]) => [key, visit(at)]))
    done.set(value, result)
    return result
  }
  return visit(data)
}

/** A key that YAML's `<<` brings in stands elsewhere: taking it away or adding to it here would not do what it says. */
function refuseInherited(holder: unknown, path: Path, depth: number): void {
  const merged = isMap(holder) && Object.hasOwn(holder, '<<') ? [holder['<<']].flat() : []
  if (!merged.some((source) => childOf(source, path[depth] ?? '') !== undefined)) return
  const where = pathText(path.slice(0, depth + 1))
  throw refusal(`${where} is merged in with << from elsewhere in the file`, 'change it there, or by hand')
}

function wrongKind(path: Path, data: unknown, wanted: 'map' | 'list'): Fault {
  const found = Array.isArray(data) ? 'a list' : isMap(data) ? 'a map' : `the value ${JSON.stringify(data)}`
  return refusal(`${pathText(path)} is ${found}, not a ${wanted}`, 'change it by hand first')
}

function refusal(message: string, hint: string): Fault {
  return new Fault('CONFIG_EDIT', message, { hint })
}
