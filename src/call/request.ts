// Requests other than tool calls, as `server/#method`: the same gate, the same record.

import { Fault } from '../base/fault.ts'
import { isRecord } from '../base/record.ts'
import type { Connection } from '../connect/connection.ts'
import { type ListMethod, resultOf } from '../connect/definitions.ts'
import type { AskOptions, Link } from '../connect/link.ts'
import { send } from '../connect/send.ts'
import { nameOfRequest } from '../wire/era.ts'
import { admit, type Target } from './admit.ts'
import { type Allowed, askPerson } from './approve.ts'
import type { CallContext } from './context.ts'
import { withInstance } from './own-instance.ts'
import { type Asking, Passage, type Terms } from './passage.ts'
import { recordReply, sound, withServer } from './result.ts'
import { tariffFor } from './tariff.ts'
import { termsFor } from './terms.ts'

export interface WaitOptions {
  readonly signal?: AbortSignal | undefined
  /** Milliseconds. */
  readonly timeout?: number | undefined
}

export interface RequestOptions extends WaitOptions {
  /** Milliseconds to wait for a person where one is asked; without it the caller is told at once to retry. */
  readonly approvalWait?: number | undefined
}

/** Something that a server lists. */
export type Item = Readonly<Record<string, unknown>>

/** The same with the server it is on. */
export type Listed = Item & { readonly server: string }

/** Any request that a program thinks of, `server/#method` in rules; not those that have a way of their own. */
export async function otherRequest(
  context: CallContext,
  asking: Asking,
  server: string,
  method: string,
  params: Readonly<Record<string, unknown>>,
  options: RequestOptions,
): Promise<Record<string, unknown>> {
  refuseRequest(server, method, params)
  return await request(context, asking, server, method, params, nameOfRequest(method, params), options)
}

/** Asks a server something and gives its result; `name` is what it is about. */
export async function request(
  context: CallContext,
  asking: Asking,
  server: string,
  method: string,
  params: Readonly<Record<string, unknown>>,
  name: string | undefined,
  options: RequestOptions,
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
  const onUnsent = () => {
    isSent = false
    passage.unsent()
  }
  try {
    passage.proceed(await passage.written())
    const { signal, timeout } = options
    const { clock } = passage
    const sending = { method, inside: text.slice(1, -1), name, signal, timeout, onSend, onUnsent, clock }
    const reply = await withInstance(connection, asking, sending, (own) =>
      send(own, sending, context.handlers),
    )
    sound(server, reply)
    recordReply(passage, reply, () => '')
    await passage.written()
    return resultOf(server, method, reply)
  } catch (thrown) {
    const named = withServer(server, thrown)
    const error = named instanceof Fault ? connection.plan.secrets.clean(named) : named
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
  options: RequestOptions,
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

// --- internal ---

/** What is asked in another way, because more than one request comes of it, or more than access is to be looked at. */
const OWN_WAYS: readonly (readonly [methods: RegExp, way: string])[] = [
  [/^tools\/call$/, 'call it: hub.as(agent).call(address, arguments)'],
  [/^tools\/list$/, 'hub.as(agent).tools(server) has those that the agent may use'],
  [/^(?:initialize|server\/discover)$/, 'hub.servers.get(name) tells what the server said of itself'],
  [/^(?:subscriptions\/|resources\/(?:un)?subscribe$)/, 'hub.on(listener) tells of what changes'],
  [/^(?:logging\/setLevel$|tasks\/|notifications\/)/, 'a client of the gateway can do that'],
]

function refuseRequest(server: string, method: string, params: unknown): void {
  const way = OWN_WAYS.find(([methods]) => methods.test(method))?.[1]
  if (way !== undefined)
    throw new Fault('NOT_SUPPORTED', `${method} is no request to be made by itself`, { hint: way, server })
  if (typeof method !== 'string' || method === '')
    throw new Fault('USAGE', 'the method of a request is a text', { server })
  if (!isRecord(params) || '_meta' in params)
    throw new Fault('USAGE', `the parameters of ${method} are an object, without _meta`, { server })
}
