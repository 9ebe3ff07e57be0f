// The use of a client's model that a modern server asks for in its answer: a person agrees before the client reads that. A task
// is looked at again and again and asks the same each time, so what was agreed to there is kept.

import { sha256 } from '../base/digest.ts'
import { Recent } from '../base/recent.ts'
import { isRecord } from '../base/record.ts'
import type { Stop } from '../base/stop.ts'
import { consent } from '../call/consent.ts'
import { canonical } from '../config/canonical.ts'
import type { Hub } from '../hub.ts'
import { type Actor, agentOf } from '../policy/access.ts'
import { memberValue, type NotificationMessage, type ReplyMessage } from '../wire/message.ts'

/** As many questions of tasks; those agreed to longest ago are asked about again. */
const MOST = 10_000

export class SamplingConsents {
  readonly #hub: Hub
  readonly #agreed = new Recent(MOST)

  constructor(hub: Hub) {
    this.#hub = hub
  }

  /** Throws when nobody agrees to what an answer asks for. */
  async ofAnswer(actor: Actor, server: string, answer: ReplyMessage, stop: Stop): Promise<void> {
    const samples = Object.values(samplesIn(memberValue(answer, 'result')))
    if (samples.length > 0) await this.#ask(actor, server, samples, answer, stop)
  }

  /** The same for how a task gets on. */
  async ofTask(actor: Actor, server: string, answer: ReplyMessage, stop: Stop): Promise<void> {
    if (answer.kind !== 'result') return
    const open = this.#open(actor, server, memberValue(answer, 'result'))
    if (open.length === 0) return
    await this.#ask(
      actor,
      server,
      open.map(({ params }) => params),
      answer,
      stop,
    )
    for (const { name } of open) this.#agreed.add(name)
  }

  /** Whether a client may be told this of a task. What it is not told it finds out when it asks, and a person before it. */
  mayTell(actor: Actor, server: string, message: NotificationMessage): boolean {
    if (!message.method.startsWith('notifications/tasks')) return true
    return this.#open(actor, server, memberValue(message, 'params')).length === 0
  }

  // --- internal ---

  #open(actor: Actor, server: string, task: unknown): { readonly name: string; readonly params: unknown }[] {
    const id = isRecord(task) ? task['taskId'] : undefined
    return Object.entries(samplesIn(task))
      .map(([key, params]) => ({
        name: JSON.stringify([agentOf(actor), server, id, key, sha256(canonical(params))]),
        params,
      }))
      .filter(({ name }) => !this.#agreed.has(name))
  }

  async #ask(
    actor: Actor,
    server: string,
    samples: readonly unknown[],
    answer: ReplyMessage,
    stop: Stop,
  ): Promise<void> {
    // All at once: an answer is good for one use, and one of several would be used up while another is waited for.
    const text = JSON.stringify(samples.length === 1 ? samples[0] : { requests: samples })
    const consented = await consent(this.#hub.context, { actor, surface: 'gateway' }, server, text, stop)
    // What the model says goes straight back to the server, with the next request.
    await consented.answered(answer)
  }
}

// --- internal ---

/** The parameters of each, by the key of its question. */
function samplesIn(said: unknown): Record<string, unknown> {
  const requests = isRecord(said) && isRecord(said['inputRequests']) ? said['inputRequests'] : {}
  return Object.fromEntries(
    Object.entries(requests).flatMap(([key, request]) =>
      isRecord(request) && request['method'] === 'sampling/createMessage'
        ? [[key, request['params'] ?? {}]]
        : [],
    ),
  )
}
