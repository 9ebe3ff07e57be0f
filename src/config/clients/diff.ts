// What a change does to a client's file, as lines to look at before agreeing. Secrets of whoever are masked: they are
// in that file, and nobody needs to see them here.

import { isRecord } from '../../base/record.ts'
import { maskArguments, scrubber } from '../../base/redact.ts'
import { maskSecrets } from '../view.ts'

export interface DiffLine {
  readonly kind: 'place' | 'same' | 'added' | 'removed'
  /** One line, with its mark; not yet made harmless for a terminal. */
  readonly text: string
}

/**
 * The one stretch in which two texts differ, with the lines around it. `values`: the data of both, of which what looks like
 * a secret is masked.
 */
export function maskedDiff(before: string, after: string, values: readonly unknown[]): DiffLine[] {
  if (before === after) return []
  const mask = masker(values)
  const old = linesOf(before)
  const now = linesOf(after)
  const shorter = Math.min(old.length, now.length)
  let top = 0
  while (top < shorter && old[top] === now[top]) top++
  let bottom = 0
  while (bottom < shorter - top && old.at(-1 - bottom) === now.at(-1 - bottom)) bottom++
  const from = Math.max(0, top - AROUND)
  const tail = Math.max(0, bottom - AROUND)
  const span = (lines: readonly string[]) => {
    const count = lines.length - tail - from
    return `${count === 0 ? from : from + 1},${count}`
  }
  const line = (kind: DiffLine['kind'], sign: string) => (text: string) => ({ kind, text: sign + mask(text) })
  return [
    { kind: 'place', text: `@@ -${span(old)} +${span(now)} @@` },
    ...old.slice(from, top).map(line('same', ' ')),
    ...old.slice(top, old.length - bottom).map(line('removed', '-')),
    ...now.slice(top, now.length - bottom).map(line('added', '+')),
    ...now.slice(now.length - bottom, now.length - tail).map(line('same', ' ')),
  ]
}

// --- internal ---

const AROUND = 3

/** Lines without their ends; a missing last end, and ends of another kind, make a line another one. */
function linesOf(text: string): string[] {
  if (text === '') return []
  const lines = text.replace(/^\uFEFF/, '').split('\n')
  if (lines.at(-1) === '') lines.pop()
  else lines.push('\\ No newline at end of file')
  return lines.map((line) => line.replace(/\r$/, ''))
}

function masker(values: readonly unknown[]): (line: string) => string {
  const secrets = new Set<string>()
  for (const value of values) collect(value, maskSecrets(value), secrets)
  const scrub = scrubber(secrets)
  // Comments are no data, so their lines are looked at by themselves.
  return (line) => maskArguments([scrub(line)], () => false)[0] ?? ''
}

/** Every text that differs from its masked form. */
function collect(value: unknown, masked: unknown, secrets: Set<string>): void {
  if (typeof value === 'string') {
    if (value !== masked) for (const word of [value, ...value.split(/\s+/)]) secrets.add(word)
    return
  }
  if (typeof value !== 'object' || value === null) return
  const others = isRecord(masked) || Array.isArray(masked) ? Object(masked) : {}
  for (const [key, item] of Object.entries(value)) collect(item, others[key], secrets)
}
