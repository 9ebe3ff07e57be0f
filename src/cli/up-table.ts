// Keeps the table of servers on the terminal for as long as the gateway runs. Redrawn a few times a second at most, and
// only when something in it changed.

import type { ServerStatus } from '../connect/status.ts'
import type { Hub } from '../hub.ts'
import type { ServerTotals } from '../store/invocation.ts'
import { LiveScreen } from './live-screen.ts'
import { type TableRow, tableLines } from './live-table.ts'
import type { Output } from './output.ts'

/** Milliseconds between two looks. */
const LOOK_EVERY = 250
/** The record is asked with every second look. */
const COUNT_EVERY = 2

export interface LiveTable {
  /** Takes the table away. */
  end(): void
}

/** Shows the table where there is a terminal for it; what `out` writes from now on stands above it. */
export function liveTable(out: Output, hub: Hub, terminal: NodeJS.WriteStream = process.stdout): LiveTable {
  if (out.json || !terminal.isTTY || process.env['TERM'] === 'dumb') return { end() {} }
  // Some terminals do not tell their size.
  const size = {
    get columns() {
      return terminal.columns || 80
    },
    get rows() {
      return terminal.rows || 24
    },
    write: (text: string) => terminal.write(text),
  }
  const screen = new LiveScreen(size)
  const totals = new Map<string, ServerTotals>()
  let status: readonly ServerStatus[] | undefined
  let shown = ''
  let looks = 0
  let soon: NodeJS.Immediate | undefined
  let counting: Promise<void> | undefined

  const off = hub.on(({ type }) => {
    if (type === 'server-status' || type === 'instance-status' || type === 'tools-change') status = undefined
  })
  const look = () => {
    if (looks++ % COUNT_EVERY === 0) counting ??= count().finally(() => (counting = undefined))
    draw()
  }
  const timer = setInterval(look, LOOK_EVERY).unref()
  const redraw = () => {
    shown = ''
    draw()
  }
  const resume = () => {
    screen.forget()
    redraw()
  }
  terminal.on('resize', redraw)
  process.on('SIGCONT', resume)
  out.wipe = () => {
    screen.wipe()
    soon ??= setImmediate(() => {
      soon = undefined
      draw()
    }).unref()
  }
  look()
  return {
    end() {
      clearInterval(timer)
      clearImmediate(soon)
      off()
      terminal.off('resize', redraw)
      process.off('SIGCONT', resume)
      out.wipe = () => {}
      screen.wipe()
    },
  }

  function draw(): void {
    const lines = tableLines(rows(), size, out)
    const text = lines.map((line) => line.text).join('\n')
    if (text === shown && !screen.empty) return
    shown = text
    screen.draw(lines)
  }

  function rows(): TableRow[] {
    status ??= hub.servers.status()
    return status.map(({ name, tools, ...rest }) => {
      const used = totals.get(name)
      return {
        name,
        status: rest,
        tools: tools.length,
        calls: used?.useCount ?? 0,
        errors: used?.errorCount ?? 0,
        inFlight: hub.context.manager.find(name)?.gate.inside ?? 0,
        lastUsed: used?.lastUsed,
      }
    })
  }

  async function count(): Promise<void> {
    try {
      for (const row of await hub.store.servers.totals()) totals.set(row.server, row)
    } catch {
      // A store that cannot be read is told of by whoever writes to it; the numbers stay as they were.
    }
  }
}
