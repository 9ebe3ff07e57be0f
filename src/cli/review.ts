// What a person looks at before agreeing. Nothing is cut short, and nothing in it can pretend to be another line: what
// is not shown as it is cannot be agreed to.

import { shellWord } from '../base/shell-word.ts'
import { variablesOf } from '../config/expand.ts'
import { hazardsOf, settingsHazards } from '../config/hazards.ts'
import type { Server } from '../config/schema-server.ts'
import { maskSecrets } from '../config/view.ts'
import { nearPath } from './describe.ts'
import { type Output, safe } from './output.ts'

/** A text on one line, with line breaks shown as what they are. */
export function oneLine(text: string): string {
  return safe(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t')
}

interface ServerReview {
  /** The entry, part by part, as written. */
  readonly parts: Readonly<Record<string, unknown>>
  readonly definition: Server | undefined
  readonly program?: string | undefined
  readonly hides?: readonly string[]
}

/** The lines about a server. */
export function reviewServer(review: ServerReview, out: Output): string[] {
  const { parts, definition, program, hides = [] } = review
  const masked = Object(maskSecrets(parts))
  const { command, args = [], url } = masked
  const lines: string[] = []
  const add = (label: string, text: string) => lines.push(line(label, text))
  if (command !== undefined) add('runs', [command, ...args].map((word) => shellWord(String(word))).join(' '))
  if (program !== undefined) add('program', program)
  if (url !== undefined) add('reaches', JSON.stringify(url))
  for (const [key, value] of Object.entries(masked)) if (!SHOWN.has(key)) add(key, JSON.stringify(value))
  const variables = variablesOf(parts)
  if (variables.length > 0) add('reads', variables.join(', '))
  for (const place of hides) add('hides', `the server of that name in ${place}`)
  return [...lines, ...looks(definition ? hazardsOf(definition) : [], out)]
}

/** The lines about what a file says beyond its servers. */
export function reviewSettings(parts: Readonly<Record<string, unknown>>, out: Output): string[] {
  const masked = Object(maskSecrets(parts))
  const lines = Object.entries(masked).map(([key, value]) => line(key, JSON.stringify(value)))
  return [...lines, ...looks(settingsHazards(parts), out)]
}

/** `settings of FILE`, safe to print. */
export function settingsTitle(file: string): string {
  return `settings of ${oneLine(nearPath(file))}`
}

// --- internal ---

const SHOWN = new Set(['command', 'args', 'url', 'binary', 'root', 'envFile content'])

function line(label: string, text: string): string {
  return `  ${label.padEnd(9)} ${oneLine(text)}`
}

function looks(hazards: readonly string[], out: Output): string[] {
  return hazards.map((hazard) => `  ${out.style('yellow', 'look:')}     ${oneLine(hazard)}`)
}
