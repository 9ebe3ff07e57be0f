// The tasks of the conversations in which this process does something: one for each, as long as somebody holds it.

import type { Store } from '../store/store.ts'
import type { Conversation } from '../store/work.ts'
import { unknownConversation } from './reading.ts'
import { type Running, taskOf } from './task.ts'

export class Tasks {
  readonly all: Map<string, Running> = new Map()
  readonly #store: Pick<Store, 'conversations'>

  constructor(store: Pick<Store, 'conversations'>) {
    this.#store = store
  }

  get(id: string | undefined): Running | undefined {
    return id === undefined ? undefined : this.all.get(id)
  }

  /** The conversation as it is kept. */
  async kept(id: string): Promise<Conversation> {
    const conversation = await this.#store.conversations.get(id)
    if (conversation === undefined) throw unknownConversation(id)
    return conversation
  }

  /** Does something with a conversation's task, of which there is one. */
  async with<T>(id: string, work: (task: Running) => Promise<T>): Promise<T> {
    const task = this.all.get(id) ?? this.open(await this.kept(id))
    task.holds += 1
    try {
      return await work(task)
    } finally {
      task.holds -= 1
      this.forget(task)
    }
  }

  open(conversation: Conversation): Running {
    const task = this.all.get(conversation.id) ?? taskOf(conversation)
    this.all.set(task.id, task)
    return task
  }

  /** Unless somebody holds it, or something is done in it. */
  forget(task: Running): void {
    if (task.holds === 0 && task.driving === undefined) this.all.delete(task.id)
  }
}
