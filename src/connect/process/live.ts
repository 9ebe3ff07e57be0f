// Ends the servers that still run when Busbar itself ends, by whatever way runs 'exit' handlers: a normal
// end, process.exit, an uncaught error. What ends it without (a signal nobody handles, kill -9) is left to
// the ledger.

import { Snapshot, sighted } from './sweep.ts'
import type { ProcessTree } from './tree.ts'

/** Watches over a tree until the function given back is called. */
export function killAtExit(tree: ProcessTree): () => void {
  if (!installed) process.on('exit', killAll)
  installed = true
  live.add(tree)
  return () => live.delete(tree)
}

// --- internal ---

const live = new Set<ProcessTree>()
let installed = false

/** Nothing can be waited for here. One look serves all; a second finds who was just being started. */
function killAll(): void {
  for (let look = 0; look < 2 && live.size > 0; look++) {
    const snapshot = sighted(() => new Snapshot())
    for (const tree of live) {
      tree.look(snapshot)
      tree.signal('SIGKILL')
    }
  }
}
