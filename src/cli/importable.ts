// Another tool's entry as we would write it ourselves.

import { resolve } from 'node:path'
import { isRecord } from '../base/record.ts'
import { NAME } from '../config/schema-values.ts'

/**
 * The entry with a name we can use, without what only repeats a default, and with a program given by a relative path
 * still meaning the file it meant where it stood.
 */
export function importable(
  name: string,
  raw: unknown,
  from: string,
  to: string,
): { name: string; entry: Record<string, unknown> } {
  const entry: Record<string, unknown> = isRecord(raw) ? { ...raw } : {}
  const remote = entry['url'] !== undefined
  if (entry['type'] === 'stdio' || (entry['type'] === 'http' && remote)) delete entry['type']
  if (entry['enabled'] === true) delete entry['enabled']
  for (const key of ['args', 'env', 'headers']) if (isEmpty(entry[key])) delete entry[key]
  const { command } = entry
  if (from !== to && typeof command === 'string' && /^\.{1,2}\//.test(command))
    entry['command'] = resolve(from, command)
  return { name: usableName(name), entry }
}

// --- internal ---

function usableName(name: string): string {
  if (NAME.test(name)) return name
  const made = name
    .normalize('NFKD')
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+|-+$/g, '')
    .slice(0, 64)
  return made === '' ? 'server' : made
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) ? value.length === 0 : isRecord(value) && Object.keys(value).length === 0
}
