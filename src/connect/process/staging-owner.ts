// A small Busbar for tests: a process that owns servers and ends in the way it is told to.

import { createInterface } from 'node:readline'
import { placesOf } from '../../base/places.ts'
import { childEnvironment } from './environment.ts'
import { closeInheritedFiles } from './inherited-files.ts'
import { openLedger } from './ledger.ts'
import { newMarker } from './marker.ts'
import { startProcess } from './spawn.ts'

/** How the owner ends: it waits to be killed, or it comes to the end in one of the ways a program can. */
export type Ending = 'wait' | 'close' | 'exit' | 'throw'

export interface OwnerTask {
  readonly ending: Ending
  readonly command: string
  readonly args: readonly string[]
  readonly sandboxed?: boolean
}

const { ending, command, args, sandboxed }: OwnerTask = JSON.parse(process.argv[2] ?? '')
closeInheritedFiles()
const marker = newMarker()
const server = await startProcess({
  server: 'staged',
  command,
  args,
  cwd: process.cwd(),
  env: childEnvironment(process.env, {}, marker),
  ledger: openLedger(placesOf(process.env)),
  sandbox: sandboxed ? { read: [], write: [], network: false } : undefined,
})
// The server's first line tells that it is in place; the test reads the mark from the same line.
for await (const line of createInterface({ input: server.stdout })) {
  process.stdout.write(`${marker} ${line}\n`)
  break
}
if (ending === 'exit') process.exit(0)
if (ending === 'throw') throw new Error('as told')
if (ending === 'close') await server.close()
