// Tasks that servers keep for those who started them. A server that is shared by all agents cannot tell them apart, so
// whose task it is is remembered here; another agent's is unknown. Where each has an instance of its own, two of them may
// give tasks the same name.

import { Fault } from '../base/fault.ts'
import { isRecord } from '../base/record.ts'
import type { Caller } from '../call/own-instance.ts'
import { agentOf } from '../policy/access.ts'
import { memberValue, mentions, type ReplyMessage, readMessage } from '../wire/message.ts'
import { param, type RawParams } from '../wire/params.ts'

/** Those that were started longest ago are forgotten first; their ids are hard to guess all the same. */
const MOST = 10_000

interface Kept {
  readonly agent: string
}

export class TaskBook {
  readonly #tasks = new Map<string, Kept>()
  readonly #instanceOf: (server: string, caller: Caller) => string | undefined

  /** `instanceOf`: by what the instance of somebody is told apart, if it is one of their own. */
  constructor(instanceOf: (server: string, caller: Caller) => string | undefined) {
    this.#instanceOf = instanceOf
  }

  /** Throws when a request is about somebody else's task. */
  check(caller: Caller, server: string, method: string, params: RawParams): void {
    if (!method.startsWith('tasks/')) return
    const task = param(params, 'taskId')
    const kept = typeof task === 'string' ? this.#kept(caller, server, task) : undefined
    if (kept !== undefined && kept.agent !== agentOf(caller.actor))
      throw new Fault('TOOL_UNKNOWN', `there is no task ${JSON.stringify(task)}`, { server })
  }

  /** The server that keeps a task, if it is the actor's. */
  serverOf(caller: Caller, servers: readonly string[], params: RawParams): string | undefined {
    const task = param(params, 'taskId')
    if (typeof task !== 'string') return undefined
    return servers.find((server) => this.isOf(caller, server, task))
  }

  isOf(caller: Caller, server: string, task: unknown): boolean {
    return typeof task === 'string' && this.#kept(caller, server, task)?.agent === agentOf(caller.actor)
  }

  /** Takes note of a task that an answer tells of. */
  note(caller: Caller, server: string, reply: ReplyMessage): void {
    if (reply.kind !== 'result' || !mentions(reply, '"taskId"')) return
    const result = memberValue(reply, 'result')
    const task = isRecord(result) ? (isRecord(result['task']) ? result['task'] : result) : {}
    const id = task['taskId']
    if (typeof id !== 'string' || this.#kept(caller, server, id)) return
    if (this.#tasks.size >= MOST) {
      const [oldest] = this.#tasks.keys()
      if (oldest !== undefined) this.#tasks.delete(oldest)
    }
    this.#tasks.set(this.#keyOf(caller, server, id), { agent: agentOf(caller.actor) })
  }

  /** A list of tasks without those that are known to be somebody else's. */
  own(caller: Caller, server: string, reply: ReplyMessage): ReplyMessage {
    if (reply.kind !== 'result') return reply
    const result = memberValue(reply, 'result')
    const tasks = isRecord(result) && Array.isArray(result['tasks']) ? result['tasks'] : []
    const own = tasks.filter((task) => {
      const id = isRecord(task) ? task['taskId'] : undefined
      return this.isOf(caller, server, id)
    })
    if (own.length === tasks.length) return reply
    const text = JSON.stringify({
      jsonrpc: '2.0',
      id: reply.id,
      result: { ...(result as object), tasks: own },
    })
    return readMessage(Buffer.from(text)) as ReplyMessage
  }

  // --- internal ---

  #kept(caller: Caller, server: string, task: string): Kept | undefined {
    return this.#tasks.get(this.#keyOf(caller, server, task))
  }

  #keyOf(caller: Caller, server: string, task: string): string {
    return `${server}\n${this.#instanceOf(server, caller) ?? ''}\n${task}`
  }
}

// --- internal ---
