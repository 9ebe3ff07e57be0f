// Stops an agent that makes the same failing call again and again. Costs one look at a size as long as nothing fails.

import { sha256 } from '../base/digest.ts'
import { Fault } from '../base/fault.ts'
import { clockTime } from '../base/time-text.ts'
import { canonicalArguments } from './canonical-arguments.ts'

export interface CallKey {
  /** `cto`, `cto/reviewer`, or empty for the owner. */
  readonly agent: string
  readonly server: string
  readonly tool: string
  /** The arguments as JSON text; the order of keys does not matter, every digit does. */
  readonly text: string
}

export class LoopBreaker {
  readonly #now: () => number
  /** By agent and tool, then by arguments. A tool is here only while it fails. */
  readonly #failing = new Map<string, Map<string, Failures>>()

  /** `now` is a monotonic clock, in milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Whether nothing fails at the moment. */
  get isCalm(): boolean {
    return this.#failing.size === 0
  }

  /** Why a call may not be made now. */
  check(key: CallKey): Fault | undefined {
    if (this.#failing.size === 0) return undefined
    const failures = this.#failing.get(toolKey(key))?.get(digestOf(key.text))
    if (failures === undefined || failures.count < LIMIT) return undefined
    const wait = failures.last + PAUSE_MS - this.#now()
    if (wait <= 0) return undefined
    const { agent, server, tool } = key
    return new Fault(
      'LOOP_STOPPED',
      `${agent === '' ? 'the owner' : agent} has made this call ${failures.count} times and it failed each time ` +
        `the same way: ${failures.said}`,
      {
        hint: `change the arguments of ${server === '' ? tool : `${server}/${tool}`}, or wait until ${clockTime(Date.now() + wait)}`,
        ...(server === '' ? {} : { server }),
      },
    )
  }

  /** Takes in how a call ended that was really made. `error` is what its last failure said. */
  note(key: CallKey, failed: boolean, error = ''): void {
    if (!failed) {
      // The tool works, so the agent is getting somewhere.
      if (this.#failing.size > 0) this.#failing.delete(toolKey(key))
      return
    }
    const now = this.#now()
    const name = toolKey(key)
    const calls = this.#failing.get(name) ?? new Map<string, Failures>()
    const digest = digestOf(key.text)
    const before = calls.get(digest)
    const said = firstLine(error)
    const pattern = said.replace(CHANGING, '#')
    const again = before !== undefined && isAlike(before.pattern, pattern) && now - before.last < FORGET_MS
    // Behind all others: what failed longest ago is what is forgotten first.
    this.#failing.delete(name)
    calls.delete(digest)
    calls.set(digest, { count: again ? before.count + 1 : 1, last: now, said, pattern })
    this.#failing.set(name, calls)
    forgetOldest(calls, MOST_CALLS)
    forgetOldest(this.#failing, MOST_TOOLS)
  }
}

// --- internal ---

interface Failures {
  readonly count: number
  readonly last: number
  /** What the last one said. */
  readonly said: string
  /** The same without what is another one each time. */
  readonly pattern: string
}

const LIMIT = 5
const PAUSE_MS = 60_000
const FORGET_MS = 10 * 60_000
const MOST_TOOLS = 1000
const MOST_CALLS = 64
const LONGEST_ERROR = 200
/** Numbers, and the ids that many services give each request of their own. */
const CHANGING = /(?<![\w-])(?=[a-z_-]*\d)[\w-]{4,}(?![\w-])|\d+/gi

/** Whether two errors of the very same call say the same but for a word here and there, as ids without a number in them are. */
function isAlike(one: string, other: string): boolean {
  if (one === other) return true
  const [words, others] = [one.split(' '), other.split(' ')]
  const most = words.length < 3 ? 0 : Math.max(1, Math.floor(words.length / 4))
  return words.length === others.length && words.filter((word, at) => word !== others[at]).length <= most
}

function toolKey({ agent, server, tool }: CallKey): string {
  return `${agent}\0${server}\0${tool}`
}

function digestOf(text: string): string {
  try {
    return sha256(canonicalArguments(Buffer.from(text)))
  } catch {
    return sha256(text)
  }
}

function firstLine(error: string): string {
  return (error.trimStart().split('\n', 1)[0] ?? '').slice(0, LONGEST_ERROR).trim()
}

function forgetOldest(map: Map<string, unknown>, most: number): void {
  const [oldest] = map.keys()
  if (map.size > most && oldest !== undefined) map.delete(oldest)
}
