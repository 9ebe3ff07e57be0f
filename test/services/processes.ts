// Which processes have to do with a folder, so that a test can prove that it left none.

import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** Processes with the folder in their words, their environment or as their working folder: `pid words`. */
export function processesOf(folder: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((pid) => {
      const words = read(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8'))
      const known = [
        words,
        read(() => readFileSync(`/proc/${pid}/environ`, 'utf8')),
        read(() => readlinkSync(`/proc/${pid}/cwd`)),
      ]
      return known.some((text) => text.includes(folder))
        ? [`${pid} ${words.replaceAll('\0', ' ').trim()}`]
        : []
    })
}

/** It may be gone by now, or be a kernel's own. */
function read(look: () => string): string {
  try {
    return look()
  } catch {
    return ''
  }
}
