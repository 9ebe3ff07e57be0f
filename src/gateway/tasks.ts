// Tasks that servers keep for those who started them. A server that is shared by all agents cannot tell them apart, so
// whose task it is is remembered here; another agent's is unknown. Where each has an instance of its own, two of them may
// give tasks the same name.

import { Fault } from '../base/fault.ts'
import { isRecord } from '../base/record.ts'
import type { Caller } from '../call/own-instance.ts'
import { agentOf } from '../policy/access.ts'
import type { Era } from '../wire/era.ts'
import {
  memberValue,
  mentions,
  type NotificationMessage,
  type ReplyMessage,
  readMessage,
} from '../wire/message.ts'
import { param, type RawParams, withParam } from '../wire/params.ts'

/** Those that were started longest ago are forgotten first; their ids are hard to guess all the same. */
const MOST = 10_000

/** Where somebody's tasks on a server are kept. */
export interface Keeper {
  /** By what the instance of somebody is told apart, if it is one of their own. */
  readonly instance: string | undefined
  /** Another one each time that the server is started, or connected to, anew. */
  readonly run: object | undefined
}

const NOBODY: ReadonlySet<string> = new Set()

interface Kept {
  readonly agent: string
  readonly run: WeakRef<object> | undefined
  /** When the server says that it began. */
  readonly createdAt: unknown
  /** Who had one of that id before. */
  readonly former: ReadonlySet<string>
}

export class TaskBook {
  readonly #tasks = new Map<string, Kept>()
  readonly #keeperOf: (server: string, caller: Caller) => Keeper

  constructor(keeperOf: (server: string, caller: Caller) => Keeper) {
    this.#keeperOf = keeperOf
  }

  /** Throws when a request is about somebody else's task, or names one by what a server might take for another. */
  check(caller: Caller, server: string, method: string, params: RawParams): void {
    if (!method.startsWith('tasks/')) return
    const task = param(params, 'taskId')
    if (task !== undefined && (typeof task !== 'string' || this.isOthers(caller, server, task)))
      throw new Fault('TOOL_UNKNOWN', `there is no task ${JSON.stringify(task)}`, { server })
  }

  /**
   * The server that keeps a task of the actor's. Where two gave the same id nobody can tell which task is meant, and what is
   * said about one of them (an answer, a cancellation) must not get to whoever repeats its id: that is refused.
   */
  serverOf(caller: Caller, servers: readonly string[], task: string): string | undefined {
    const [server, other] = this.serversOf(caller, servers, task)
    if (server !== undefined && other !== undefined)
      throw new Fault('TOOL_UNKNOWN', `${server} and ${other} both have a task ${JSON.stringify(task)}`, {
        hint: `ask at /mcp/${server} or /mcp/${other}, whichever is meant`,
      })
    return server
  }

  /**
   * The same of all that may be meant. Also those that have forgotten it: who still asks about a task that is gone must not be
   * given another server's in its stead.
   */
  serversOf(caller: Caller, servers: readonly string[], task: string): readonly string[] {
    const agent = agentOf(caller.actor)
    const given = servers.filter((server) => {
      const kept = this.#kept(caller, server, task)
      return kept !== undefined && (kept.agent === agent || kept.former.has(agent))
    })
    return given.length > 1 ? given : given.filter((server) => this.isOf(caller, server, task))
  }

  isOf(caller: Caller, server: string, task: unknown): boolean {
    return typeof task === 'string' && this.#kept(caller, server, task)?.agent === agentOf(caller.actor)
  }

  /** Whether it is known to be somebody else's. One of which nothing is known may be older than this gateway. */
  isOthers(caller: Caller, server: string, task: unknown): boolean {
    const kept = typeof task === 'string' ? this.#kept(caller, server, task) : undefined
    return kept !== undefined && kept.agent !== agentOf(caller.actor)
  }

  /**
   * Takes note of a task that the answer to a call tells of. Only such an answer begins a task, and only in the form that
   * its era has for that: what any other answer mentions changes nothing about whose it is.
   *
   * The task is the caller's from now on, also where somebody else had one of that id: a server that numbers its tasks and was
   * started anew begins from one, and the former owner must not read what is another's now. It stays whose it was only as
   * long as it is the same task by all we know: of the same run, and not said to have begun at another time. So a server
   * that gives two callers one task (for equal calls, say) takes it from nobody. One that lies about that gives away
   * nothing but its own, which it could have put into the answer itself; other servers' tasks it cannot name.
   */
  note(caller: Caller, server: string, era: Era, reply: ReplyMessage): void {
    if (reply.kind !== 'result' || !mentions(reply, '"taskId"')) return
    const { taskId: id, createdAt } = startedTask(era, memberValue(reply, 'result')) ?? {}
    if (typeof id !== 'string') return
    const agent = agentOf(caller.actor)
    const { instance, run } = this.#keeperOf(server, caller)
    const key = keyOf(server, instance, id)
    const before = this.#tasks.get(key)
    const isSame = run !== undefined && before?.run?.deref() === run && before.createdAt === createdAt
    if (isSame && before.agent !== agent) return
    this.#tasks.delete(key)
    if (this.#tasks.size >= MOST) {
      const [oldest] = this.#tasks.keys()
      if (oldest !== undefined) this.#tasks.delete(oldest)
    }
    const former = before === undefined ? NOBODY : new Set([...before.former, before.agent])
    this.#tasks.set(key, { agent, run: run && new WeakRef(run), createdAt, former })
  }

  /** What somebody wants to hear of, without tasks that are known to be somebody else's. */
  heardBy(caller: Caller, server: string, params: RawParams): RawParams {
    const wanted = param(params, 'notifications')
    if (!isRecord(wanted) || !('taskIds' in wanted)) return params
    // Written anew also where all may stay: the server reads what was looked at here, however it was written.
    const taskIds = taskIdsIn(wanted).filter((task) => !this.isOthers(caller, server, task))
    return withParam(params, 'notifications', { ...wanted, taskIds })
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
    return this.#tasks.get(keyOf(server, this.#keeperOf(server, caller).instance, task))
  }
}

/** The tasks of which a client wants to hear. */
export function taskIdsIn({ taskIds }: Readonly<Record<string, unknown>>): string[] {
  return Array.isArray(taskIds) ? taskIds.filter((task) => typeof task === 'string') : []
}

/** Which task a notification is about; undefined where it is about none. */
export function taskTold(message: NotificationMessage): unknown {
  if (!message.method.startsWith('notifications/tasks')) return undefined
  const params = memberValue(message, 'params')
  return isRecord(params) ? params['taskId'] : undefined
}

// --- internal ---

/** The task that was started instead of an answer. */
function startedTask(era: Era, result: unknown): Readonly<Record<string, unknown>> | undefined {
  if (!isRecord(result)) return undefined
  const { task, resultType } = result
  if (era === 'modern') return resultType === 'task' ? result : undefined
  return isRecord(task) ? task : undefined
}

function keyOf(server: string, instance: string | undefined, task: string): string {
  return `${server}\n${instance ?? ''}\n${task}`
}
