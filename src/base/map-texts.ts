// Changes every text in data, names of members too.

import { isRecord } from './record.ts'

/** `key` is the name of the member in which a text stands, or a list that it is in; empty for a name itself. */
export type ChangeText = (text: string, key: string) => string

/** What did not change stays the same object. */
export function mapTexts<T>(value: T, change: ChangeText, key?: string): T
export function mapTexts(value: unknown, change: ChangeText, key = ''): unknown {
  if (typeof value === 'string') return change(value, key)
  if (Array.isArray(value)) {
    const items = value.map((item) => mapTexts(item, change, key))
    return items.every((item, index) => item === value[index]) ? value : items
  }
  if (!isRecord(value)) return value
  let isSame = true
  const entries = Object.entries(value).map(([name, before]) => {
    const entry = [change(name, ''), mapTexts(before, change, name)] as const
    if (entry[0] !== name || entry[1] !== before) isSame = false
    return entry
  })
  return isSame ? value : Object.fromEntries(entries)
}
