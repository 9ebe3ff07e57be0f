// A running server: its pipes, and a way to end all of it.

import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { StderrRing } from './stderr-ring.ts'
import type { ProcessTree } from './tree.ts'

export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export interface Closed extends Exit {
  /** Processes that could not be killed: the kernel has stuck them, or they belong to another user now. */
  readonly survivors: readonly number[]
}

export class ServerProcess {
  readonly pid: number
  readonly stdin: Writable
  /** To be listened to at once: when the process ends, Node throws away what nobody listens for. */
  readonly stdout: Readable
  /**
   * When the process itself ended, by itself or not. Others of its tree may still be ending. Never rejects.
   */
  readonly exited: Promise<Exit>
  readonly #child: ChildProcessWithoutNullStreams
  readonly #tree: ProcessTree
  readonly #onGone: () => void
  readonly #stderr = new StderrRing()
  #exit: Exit | undefined
  #ending: Promise<Closed> | undefined

  /** `onGone` is called once, when nothing of the tree is alive. */
  constructor(child: ChildProcessWithoutNullStreams, pid: number, tree: ProcessTree, onGone: () => void) {
    this.#child = child
    this.#tree = tree
    this.#onGone = onGone
    this.pid = pid
    this.stdin = child.stdin
    this.stdout = child.stdout
    this.#stderr.drain(child.stderr)
    // A server that ended is told by `exited`. Whoever writes listens for what a broken pipe says besides; nobody else
    // needs to.
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on('error', () => {})
    this.exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        this.#exit = { code, signal }
        resolve(this.#exit)
        // What it left running is ended the same way as if it had been closed.
        void this.#end()
      })
    })
  }

  /** How the process ended; undefined while it runs. */
  get exit(): Exit | undefined {
    return this.#exit
  }

  /** The last lines it wrote to stderr, as plain text. `scrub` takes the secrets out that it was given. */
  stderrTail(lines: number, scrub?: (text: string) => string): string {
    return this.#stderr.tail(lines, scrub)
  }

  /**
   * Ends the server with all that it started, in three seconds at most. May be called any number of times.
   */
  async close(): Promise<Closed> {
    const closed = await this.#end()
    // Whoever still holds the other end must not hold us.
    for (const stream of [this.#child.stdin, this.#child.stdout, this.#child.stderr]) stream.destroy()
    return closed
  }

  #end(): Promise<Closed> {
    this.#ending ??= this.#endTree()
    return this.#ending
  }

  /**
   * The end of its input, SIGTERM, SIGKILL: a second each, and the next only when the one before did not do.
   */
  async #endTree(): Promise<Closed> {
    // While parents live: a process that lost its parent, its group and its mark is found by no later look.
    await this.#tree.members()
    this.stdin.end()
    let survivors: readonly number[] = []
    if (!(await this.#tree.gone(STEP_MS))) {
      await this.#tree.members()
      this.#tree.signal('SIGTERM')
      if (!(await this.#tree.gone(STEP_MS))) survivors = await this.#tree.kill(STEP_MS)
    }
    if (survivors.length > 0) {
      this.#child.unref()
      return { ...(this.#exit ?? { code: null, signal: null }), survivors }
    }
    this.#onGone()
    return { ...(await this.exited), survivors }
  }
}

// --- internal ---

const STEP_MS = 1000
