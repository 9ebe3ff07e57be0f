// The table of servers that `busbar up` keeps on the terminal, as lines that fit it. Nothing in it is longer than a line,
// and nothing of what a server said can act on the terminal.

import type { ServerStatus } from '../connect/status.ts'
import { asTyped } from './as-typed.ts'
import { column, cut, width } from './display-width.ts'
import type { DrawnLine } from './live-screen.ts'
import { type Output, type Style, safe } from './output.ts'

export interface TableRow {
  readonly name: string
  readonly status: Pick<ServerStatus, 'status' | 'state' | 'error' | 'hint' | 'instances'>
  readonly tools: number
  readonly calls: number
  readonly errors: number
  readonly inFlight: number
  /** Epoch milliseconds. */
  readonly lastUsed?: number | undefined
}

/** The lines for a terminal of this size; with more servers than column, those that want attention. */
export function tableLines(
  rows: readonly TableRow[],
  { columns, rows: height }: { readonly columns: number; readonly rows: number },
  out: Pick<Output, 'style'>,
): DrawnLine[] {
  // One column stays free: some terminals begin a new line as soon as the last one is written to.
  const most = Math.max(1, columns - 1)
  // A line is for the heading, one above it, one for the cursor, and some are for what is told above.
  const room = Math.max(1, height - 6)
  const shown = rows.length <= room ? rows : [...rows].sort(byAttention).slice(0, room)
  const nameWidth = Math.min(
    Math.max(6, ...shown.map(({ name }) => width(clean(name)))),
    Math.max(6, Math.floor(most / 3)),
  )
  const cells = fitting(most - nameWidth - MINIMUM_STATE)
  const line = (name: string, values: readonly string[], state: string, style?: Style): DrawnLine => {
    const left = [
      column(name, nameWidth),
      ...cells.map((cell, index) => column(values[index] ?? '', cell.width, 'right')),
      '',
    ].join('  ')
    const start = cut(left, most)
    const rest = cut(state, most - width(start))
    return {
      text: start + (style && rest !== '' ? out.style(style, rest) : rest),
      width: width(start) + width(rest),
    }
  }
  const heading = line(
    'SERVER',
    cells.map(({ title }) => title),
    'STATE',
  )
  const body = shown.map((row) => {
    const { text, style } = stateOf(row.status)
    return line(
      clean(row.name),
      cells.map(({ value }) => value(row)),
      text.replace(`: ${clean(row.name)} `, ': '),
      style,
    )
  })
  const hidden = rows.length - shown.length
  const more = hidden === 0 ? [] : [plain(cut(asTyped(`… and ${hidden} more: busbar list`), most))]
  return [plain(''), { ...heading, text: out.style('dim', heading.text) }, ...body, ...more]
}

// --- internal ---

/** What a server's state is in a word, with the reason and what to do when it does not work. */
function stateOf({ status, state, error, hint, instances = 0 }: TableRow['status']): {
  text: string
  style: Style
} {
  const why = error === undefined ? '' : `: ${clean(error)}`
  const next = hint === undefined ? '' : ` (${asTyped(clean(hint))})`
  switch (status) {
    case 'connected':
      return { text: `connected${instances > 0 ? `, ${instancesText(instances)}` : ''}`, style: 'green' }
    case 'pending':
      return { text: state === 'idle' ? 'idle' : 'starting', style: 'dim' }
    case 'needs-auth':
      return { text: `needs sign-in${why}${next}`, style: 'yellow' }
    case 'failed':
      return { text: `failed${why}${next}`, style: 'red' }
    case 'disabled':
      return { text: state === 'closed' ? 'stopped' : `off${why}`, style: 'dim' }
  }
}

/** How many there are for single agents or sessions. */
export function instancesText(count: number): string {
  return count === 1 ? '1 instance' : `${count} instances`
}

/** What must be left for the state, or a column is left out. */
const MINIMUM_STATE = 14

interface Cell {
  readonly title: string
  readonly width: number
  readonly value: (row: TableRow) => string
}

const CELLS: readonly Cell[] = [
  { title: 'TOOLS', width: 5, value: ({ tools }) => String(tools) },
  { title: 'CALLS', width: 7, value: ({ calls }) => short(calls) },
  { title: 'ERRORS', width: 6, value: ({ errors }) => short(errors) },
  { title: 'IN FLIGHT', width: 9, value: ({ inFlight }) => (inFlight === 0 ? '-' : String(inFlight)) },
  { title: 'LAST USED', width: 10, value: ({ lastUsed }) => moment(lastUsed) },
]
/** In this order, where it is narrow. */
const LEFT_OUT = ['LAST USED', 'TOOLS', 'IN FLIGHT', 'CALLS', 'ERRORS']

function fitting(columns: number): readonly Cell[] {
  let cells = CELLS
  for (const title of LEFT_OUT) {
    if (cells.reduce((sum, cell) => sum + cell.width + 2, 2) <= columns) break
    cells = cells.filter((cell) => cell.title !== title)
  }
  return cells
}

function plain(text: string): DrawnLine {
  return { text, width: width(text) }
}

function clean(text: string): string {
  return safe(text).replace(/\s+/g, ' ').trim()
}

function byAttention(one: TableRow, other: TableRow): number {
  return attention(other) - attention(one) || (other.lastUsed ?? 0) - (one.lastUsed ?? 0)
}

function attention({ status: { status }, inFlight }: TableRow): number {
  if (status === 'failed' || status === 'needs-auth') return 2
  return inFlight > 0 ? 1 : 0
}

function short(count: number): string {
  return count < 1_000_000 ? String(count) : `${(count / 1_000_000).toFixed(1)}M`
}

/** The time of today, else the day. */
function moment(epoch: number | undefined): string {
  if (epoch === undefined) return '-'
  const at = new Date(epoch)
  const two = (value: number) => String(value).padStart(2, '0')
  if (at.toDateString() === new Date().toDateString())
    return [at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(':')
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`
}
