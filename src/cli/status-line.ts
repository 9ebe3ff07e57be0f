// One line on the terminal that says what is going on, drawn over and over and wiped before anything else is written.
// On a pipe, with --json and on terminals that cannot go back there is none.

import { type Output, safe } from './output.ts'

export interface StatusLine {
  /** Shows a text from now on. */
  show(text: string): void
  /** Takes the line away. */
  end(): void
}

export function statusLine(out: Output, terminal: NodeJS.WriteStream = process.stderr): StatusLine {
  if (out.json || !terminal.isTTY || process.env['TERM'] === 'dumb') return { show() {}, end() {} }
  let text = ''
  let frame = 0
  const wipe = () => void terminal.write('\r\u001b[K')
  const draw = () => {
    frame = (frame + 1) % FRAMES.length
    terminal.write(`\r\u001b[K${FRAMES[frame]} ${text.slice(0, (terminal.columns || 80) - 4)}`)
  }
  let timer: NodeJS.Timeout | undefined
  out.wipe = () => {
    if (timer !== undefined) wipe()
  }
  return {
    show(next) {
      text = safe(next).replace(/\s+/g, ' ')
      if (timer === undefined) timer = setInterval(draw, 100).unref()
      draw()
    },
    end() {
      if (timer === undefined) return
      clearInterval(timer)
      timer = undefined
      wipe()
    },
  }
}

// --- internal ---

const FRAMES = ['|', '/', '-', '\\']
