// What changed between two definitions of a tool, member by member.

import { isRecord } from '../base/record.ts'
import { canonical } from '../config/canonical.ts'
import { type TextPart, textDiff } from './pin-text.ts'

export interface Change {
  /** `description`, `inputSchema.properties.path.type` */
  readonly path: string
  /** Absent: it was not there. */
  readonly before?: unknown
  /** Absent: it is not there any more. */
  readonly after?: unknown
  /** Of two texts, what became of the first. */
  readonly parts?: readonly TextPart[] | undefined
}

/** Both are definitions as JSON. The order of keys means nothing. */
export function diffOf(before: string, after: string): Change[] {
  const changes: Change[] = []
  compare('', definitionIn(before), definitionIn(after), changes)
  return changes
}

/** A definition from the store, which somebody may have written into. */
export function definitionIn(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return json
  }
}

/** `inputSchema.properties["odd key"]` */
export function memberPath(path: string, key: string): string {
  if (!/^[\w$-]+$/.test(key)) return `${path}[${JSON.stringify(key)}]`
  return path === '' ? key : `${path}.${key}`
}

// --- internal ---

function compare(path: string, before: unknown, after: unknown, changes: Change[]): void {
  if (isRecord(before) && isRecord(after)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
      const inner = memberPath(path, key)
      if (!Object.hasOwn(after, key)) changes.push({ path: inner, before: before[key] })
      else if (!Object.hasOwn(before, key)) changes.push({ path: inner, after: after[key] })
      else compare(inner, before[key], after[key], changes)
    }
    return
  }
  if (Array.isArray(before) && Array.isArray(after) && isListOfThings(before, after)) {
    for (const [index, item] of before.entries()) compare(`${path}[${index}]`, item, after[index], changes)
    return
  }
  if (canonical(before) === canonical(after)) return
  const parts = typeof before === 'string' && typeof after === 'string' ? textDiff(before, after) : undefined
  changes.push({ path, before, after, ...(parts && { parts }) })
}

/** Lists of as many objects are compared one by one; others, such as `required` and `enum`, are told as a whole. */
function isListOfThings(before: readonly unknown[], after: readonly unknown[]): boolean {
  return before.length === after.length && [...before, ...after].every(isRecord)
}
