// Starts the process of a stdio server, without a shell and in a group of its own.

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { Fault } from '../../base/fault.ts'
import { findBubblewrap } from './bubblewrap.ts'
import { explainSpawnError } from './launch-fault.ts'
import type { Ledger } from './ledger.ts'
import { killAtExit } from './live.ts'
import { MARK, newMarker } from './marker.ts'
import { findProgram, type Program } from './program.ts'
import { type Sandbox, sandboxArguments } from './sandbox.ts'
import { ServerProcess } from './server-process.ts'
import type { Leader } from './sweep.ts'
import { startOf } from './table.ts'
import { ProcessTree } from './tree.ts'

export interface StartOptions extends Program {
  /** Confines the process; refused where that cannot be done. */
  readonly sandbox?: Sandbox | undefined
  /** Lets the next start find what this one may leave behind. */
  readonly ledger?: Ledger | undefined
}

/** A running server, or a rejection with a fault that says why it cannot run. */
export async function startProcess(options: StartOptions): Promise<ServerProcess> {
  const { cwd, server, ledger } = options
  const marker = options.env[MARK] ?? newMarker()
  const order = await launchOrder(options).catch((error) => {
    throw error instanceof Fault ? error : explainSpawnError(error, options.command, server)
  })
  // Before the start, so that there is no moment at which a kill would leave a process nobody knows of.
  const entry = ledger?.begin(marker, server ?? options.command)
  let launched: Launched
  try {
    launched = await launch({ ...order, cwd, env: { ...options.env, [MARK]: marker } })
  } catch (error) {
    entry?.remove()
    throw explainSpawnError(error, order.file, server)
  }
  const { child, leader } = launched
  const tree = new ProcessTree({ leader, marker, since: leader.started })
  const release = killAtExit(tree)
  entry?.started(leader)
  return new ServerProcess(child, leader.pid, tree, () => {
    release()
    entry?.remove()
  })
}

// --- internal ---

interface LaunchOrder {
  readonly file: string
  readonly args: readonly string[]
  /** What the program is told it is called; some programs are several. */
  readonly name: string
}

async function launchOrder(options: StartOptions): Promise<LaunchOrder> {
  const { sandbox, command, args } = options
  if (sandbox === undefined) return { file: findProgram(options), args, name: command }
  const file = await findBubblewrap(sandbox.network)
  return { file, args: sandboxArguments(sandbox, options), name: file }
}

interface Launched {
  readonly child: ChildProcessWithoutNullStreams
  readonly leader: Leader
}

/** Node reports some failures by an event and throws others; here all reject. */
function launch(
  order: LaunchOrder & { readonly cwd: string; readonly env: Record<string, string> },
): Promise<Launched> {
  return new Promise((resolve, reject) => {
    const child = spawn(order.file, order.args, {
      argv0: order.name,
      cwd: order.cwd,
      env: order.env,
      // A session of its own: one signal reaches the group, and Ctrl-C at our terminal does not.
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    child.once('spawn', () => {
      try {
        resolve({ child, leader: leaderOf(child.pid) })
      } catch (error) {
        child.kill('SIGKILL')
        reject(error)
      }
    })
    // Not `once`: an error that comes later must not go unheard, which would end Busbar.
    child.on('error', reject)
  })
}

function leaderOf(pid: number | undefined): Leader {
  const started = pid === undefined ? undefined : startOf(pid)
  // Nobody else can have collected it yet, so only a machine without /proc and without ps comes here.
  if (pid === undefined || started === undefined)
    throw new Error('processes cannot be listed on this machine')
  return { pid, started }
}
