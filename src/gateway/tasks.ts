// Tasks that servers keep for those who started them. A server that is shared by all agents cannot tell them apart, so
// whose task it is is remembered here; another agent's is unknown.

import { Fault } from '../base/fault.ts'
import { isRecord } from '../base/record.ts'
import type { Actor } from '../policy/access.ts'
import { memberValue, mentions, type ReplyMessage, readMessage } from '../wire/message.ts'
import { param, type RawParams } from '../wire/params.ts'

/** Those that were started longest ago are forgotten first; their ids are hard to guess all the same. */
const MOST = 10_000

interface Kept {
  readonly server: string
  readonly agent: string
}

export class TaskBook {
  readonly #tasks = new Map<string, Kept>()

  /** Throws when a request is about somebody else's task. */
  check(actor: Actor, server: string, method: string, params: RawParams): void {
    if (!method.startsWith('tasks/')) return
    const task = param(params, 'taskId')
    const kept = typeof task === 'string' ? this.#tasks.get(keyOf(server, task)) : undefined
    if (kept !== undefined && kept.agent !== agentOf(actor))
      throw new Fault('TOOL_UNKNOWN', `there is no task ${JSON.stringify(task)}`, { server })
  }

  /** The server that keeps a task, if it is the actor's. */
  serverOf(actor: Actor, servers: readonly string[], params: RawParams): string | undefined {
    const task = param(params, 'taskId')
    if (typeof task !== 'string') return undefined
    return servers.find((server) => this.#tasks.get(keyOf(server, task))?.agent === agentOf(actor))
  }

  isOf(actor: Actor, server: string, task: unknown): boolean {
    return typeof task === 'string' && this.#tasks.get(keyOf(server, task))?.agent === agentOf(actor)
  }

  /** Takes note of a task that an answer tells of. */
  note(actor: Actor, server: string, reply: ReplyMessage): void {
    if (reply.kind !== 'result' || !mentions(reply, '"taskId"')) return
    const result = memberValue(reply, 'result')
    const task = isRecord(result) ? (isRecord(result['task']) ? result['task'] : result) : {}
    const id = task['taskId']
    if (typeof id !== 'string' || this.#tasks.has(keyOf(server, id))) return
    if (this.#tasks.size >= MOST) {
      const [oldest] = this.#tasks.keys()
      if (oldest !== undefined) this.#tasks.delete(oldest)
    }
    this.#tasks.set(keyOf(server, id), { server, agent: agentOf(actor) })
  }

  /** A list of tasks without those that are known to be somebody else's. */
  own(actor: Actor, server: string, reply: ReplyMessage): ReplyMessage {
    if (reply.kind !== 'result') return reply
    const result = memberValue(reply, 'result')
    const tasks = isRecord(result) && Array.isArray(result['tasks']) ? result['tasks'] : []
    const own = tasks.filter((task) => {
      const id = isRecord(task) ? task['taskId'] : undefined
      return this.isOf(actor, server, id)
    })
    if (own.length === tasks.length) return reply
    const text = JSON.stringify({
      jsonrpc: '2.0',
      id: reply.id,
      result: { ...(result as object), tasks: own },
    })
    return readMessage(Buffer.from(text)) as ReplyMessage
  }
}

// --- internal ---

function keyOf(server: string, task: string): string {
  return `${server}\n${task}`
}

function agentOf(actor: Actor): string {
  return actor.kind === 'owner' ? '' : actor.id
}
