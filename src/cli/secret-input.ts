// Something secret from a person: typed without being shown, or read from a pipe; never from the command line.

import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { Fault } from '../base/fault.ts'

/** What was given, without the line's end that nobody meant. `what` is what the person is asked for. */
export async function readSecret(what: string, instead: string): Promise<string> {
  const text = process.stdin.isTTY ? await typed(what, instead) : await piped()
  const value = text.replace(/\r?\n$/, '')
  if (value === '') throw new Fault('USAGE', `no ${what} was given`, { hint: instead })
  // Neither an environment nor a header could ever hold it.
  if (value.includes('\0')) throw new Fault('USAGE', `the ${what} holds a zero byte`, { hint: instead })
  return value
}

// --- internal ---

/** More is no password and no token, but a file given by mistake. */
const LARGEST = 1024 * 1024

async function piped(): Promise<string> {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of process.stdin) {
    parts.push(part)
    size += part.length
    if (size > LARGEST) throw new Fault('USAGE', 'that is more than a secret: over a megabyte')
  }
  return Buffer.concat(parts).toString('utf8')
}

async function typed(what: string, instead: string): Promise<string> {
  // The editor of lines shows what it does on its output; this one shows nothing.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const terminal = createInterface({ input: process.stdin, output: nowhere, terminal: true, historySize: 0 })
  process.stderr.write(`${what} (not shown): `)
  // It keeps the keys for itself, so the way out must be told.
  terminal.on('SIGINT', () => process.kill(process.pid, 'SIGINT'))
  const lines: string[] = []
  try {
    await new Promise<void>((resolve) => {
      terminal.on('line', (line) => {
        lines.push(line)
        // All lines of what is pasted come at once.
        setImmediate(resolve)
      })
      terminal.on('close', resolve)
    })
  } finally {
    terminal.close()
    process.stderr.write('\n')
  }
  if (lines.length > 1)
    throw new Fault('USAGE', `the ${what} has more than one line, which cannot be typed`, { hint: instead })
  return lines[0] ?? ''
}
