// Requests other than tool calls, as `server/#method`: the same gate, the same record.

import { isRecord } from '../base/record.ts'
import type { Connection } from '../connect/connection.ts'
import { type ListMethod, resultOf } from '../connect/definitions.ts'
import type { AskOptions, Link } from '../connect/link.ts'
import { send } from '../connect/send.ts'
import { admit, type Target } from './admit.ts'
import { type Allowed, askPerson } from './approve.ts'
import type { CallContext } from './context.ts'
import { withInstance } from './own-instance.ts'
import { type Asking, Passage, type Terms } from './passage.ts'
import { recordReply, refuseOther, withServer } from './result.ts'
import { tariffFor } from './tariff.ts'
import { termsFor } from './terms.ts'

export interface WaitOptions {
  readonly signal?: AbortSignal | undefined
  /** Milliseconds. */
  readonly timeout?: number | undefined
}

/** Something that a server lists. */
export type Item = Readonly<Record<string, unknown>>

/** The same with the server it is on. */
export type Listed = Item & { readonly server: string }

/** Asks a server something and gives its result; `name` is what it is about. */
export async function request(
  context: CallContext,
  asking: Asking,
  server: string,
  method: string,
  params: Readonly<Record<string, unknown>>,
  name: string | undefined,
  options: WaitOptions,
): Promise<Record<string, unknown>> {
  const target = { server, tool: `#${method}` }
  const text = JSON.stringify(params)
  const { terms, connection, allowed } = await admitted(context, asking, target, text, options)
  const passage = Passage.begin(context, asking, target, text, terms)
  let isSent = false
  const onSend = () => {
    isSent = true
    passage.sent()
  }
  try {
    passage.proceed(await passage.written())
    const sending = { method, inside: text.slice(1, -1), name, ...options, onSend }
    const reply = await withInstance(connection, asking, sending, (own) =>
      send(own, sending, context.handlers),
    )
    refuseOther(server, reply)
    recordReply(passage, reply, () => '')
    await passage.written()
    return resultOf(server, method, reply)
  } catch (thrown) {
    const error = withServer(server, thrown)
    if (!isSent) await allowed?.giveBack()
    passage.failed(error)
    await passage.written()
    throw error
  }
}

async function admitted(
  context: CallContext,
  asking: Asking,
  target: Target,
  text: string,
  options: WaitOptions,
): Promise<{ terms: Terms; connection: Connection; allowed: Allowed | undefined }> {
  let allowed: Allowed | undefined
  try {
    const { leave } = admit(context, asking.actor, target)
    if (leave.verdict === 'ask') allowed = await askPerson(context, asking, target, { leave }, text, options)
    const connection = context.manager.get(target.server)
    const tariff = tariffFor(context, target, undefined)
    const terms = await termsFor(context, asking, target, leave, tariff, text)
    return { terms, connection, allowed }
  } catch (error) {
    await allowed?.giveBack()
    await Passage.refused(context, asking, target, text, error)
    throw error
  }
}

/** What one server lists. */
export async function listOf(
  connection: Connection,
  method: ListMethod,
  what: 'resources' | 'prompts',
  { signal, timeout }: WaitOptions,
): Promise<Listed[]> {
  const link = connection.live ?? (await connection.ready(signal))
  if (!link.offers(what)) return []
  const { items } = await itemsOf(link, method, { signal, idle: timeout ?? connection.plan.timeouts.call })
  return items.map((item) => ({ ...item, server: connection.name }))
}

/** The same as the server gave it, and what was wrong with it. What is no object is left out. */
export async function itemsOf(
  link: Link,
  method: ListMethod,
  options: AskOptions,
): Promise<{ items: readonly Item[]; complaints: readonly string[] }> {
  const { items, complaints } = await link.list(method, options)
  return { items: items.filter(isRecord), complaints }
}
