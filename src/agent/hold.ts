// One process runs the conversations of a home: two would do everything twice.

import { join } from 'node:path'
import { Fault } from '../base/fault.ts'
import { withLock } from '../base/lock.ts'
import { prepareFolder } from '../base/places.ts'

/** Resolves with what gives it up again. */
export function holdLock(folder: string): Promise<() => void> {
  prepareFolder(folder)
  return new Promise((resolve, reject) => {
    const held = () =>
      new Promise<void>((release) => {
        resolve(release)
      })
    withLock(join(folder, 'conversations.lock'), held, { timeoutMs: PATIENCE }).catch((error: unknown) =>
      reject(error instanceof Fault && error.code === 'CONFIG_LOCKED' ? inUse(error) : error),
    )
  })
}

// --- internal ---

/** Milliseconds; a process that is just ending lets go within this. */
const PATIENCE = 2000

function inUse(error: Fault): Fault {
  return new Fault('CONFIG_LOCKED', `another process runs the conversations here (${error.message})`, {
    hint: 'talk to the gateway that is running, or set BUSBAR_HOME to another folder',
    cause: error,
  })
}
