// The path every tool call takes, whoever makes it: resolve, decide, send. What later decides, meters and records is
// put in here and nowhere else.

import { Fault } from '../base/fault.ts'
import { nearest } from '../base/suggest.ts'
import type { Assignment } from '../config/resolve.ts'
import type { Handlers } from '../connect/answers.ts'
import type { Connection } from '../connect/connection.ts'
import type { Manager } from '../connect/manager.ts'
import { awake, send } from '../connect/send.ts'
import type { KnownTool } from '../connect/tool-list.ts'
import { type Actor, mayUse, noAccess } from '../policy/access.ts'
import { memberValue, type NotificationMessage } from '../wire/message.ts'
import { paramHeaderValues } from '../wire/param-headers.ts'
import { CallResult } from './result.ts'

/** What a call needs to know of the hub. */
export interface CallContext {
  readonly manager: Manager
  readonly handlers: Handlers
  assignments(): readonly Assignment[]
}

export interface Progress {
  readonly progress: number
  readonly total?: number
  readonly message?: string
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined
  /** Milliseconds without progress until the call is cancelled. */
  readonly timeout?: number | undefined
  /** Called in order, and always before the result. Must not throw. */
  readonly onProgress?: ((progress: Progress) => void) | undefined
}

/** Arguments as JSON text, for whom every digit counts: 12345678901234567891 is not …7000. */
export class JsonText {
  readonly text: string

  constructor(text: string) {
    JSON.parse(text)
    this.text = text
  }
}

/** Calls `server/tool`. A tool that fails is a result; what prevents a result is thrown as a fault. */
export async function call(
  context: CallContext,
  actor: Actor,
  address: string,
  args: unknown,
  options: CallOptions = {},
): Promise<CallResult> {
  if (typeof address !== 'string')
    throw new Fault('USAGE', `${String(address)} is no address`, { hint: 'write server/tool' })
  const cut = address.indexOf('/')
  const connection = reach(context, actor, cut < 0 ? address : address.slice(0, cut))
  const name = address.slice(cut + 1)
  if (cut < 0 || name === '')
    throw new Fault('TOOL_UNKNOWN', `${JSON.stringify(address)} names no tool`, {
      hint: `write server/tool; run: busbar tools ${connection.name}`,
      server: connection.name,
    })
  const known = connection.tool(name) ?? (await findTool(connection, name, options))
  const reply = await send(
    connection,
    {
      method: 'tools/call',
      inside: `"name":${JSON.stringify(name)},"arguments":${argumentsText(args)}`,
      name,
      headers: paramHeaderValues(known.headers, args instanceof JsonText ? JSON.parse(args.text) : args),
      signal: options.signal,
      timeout: options.timeout,
      onNotification: options.onProgress && progressTo(options.onProgress),
    },
    context.handlers,
  )
  return new CallResult(connection.name, reply)
}

/** The connection of a server that the actor may use. */
export function reach({ manager, assignments }: CallContext, actor: Actor, server: string): Connection {
  if (!mayUse(actor, server, assignments())) throw noAccess(actor, server)
  return manager.get(server)
}

// --- internal ---

function argumentsText(args: unknown): string {
  if (args instanceof JsonText) return args.text
  try {
    return JSON.stringify(args ?? {}) ?? '{}'
  } catch (error) {
    throw new Fault(
      'USAGE',
      `the arguments cannot be written as JSON: ${error instanceof Error ? error.message : error}`,
    )
  }
}

/** A tool that is not known yet: of a server that was never up, or whose list is old. */
async function findTool(
  connection: Connection,
  name: string,
  { signal, timeout }: CallOptions,
): Promise<KnownTool> {
  await awake(connection, { method: 'tools/call', signal, timeout })
  const known = connection.tool(name)
  if (known === undefined) throw unknownTool(connection, name)
  return known
}

function unknownTool(connection: Connection, name: string): Fault {
  const names = connection.tools.map((tool) => tool.name)
  const near = nearest(name, names)
  return new Fault('TOOL_UNKNOWN', `${connection.name} has no tool ${JSON.stringify(name)}`, {
    hint: near ? `did you mean ${connection.name}/${near}?` : `run: busbar tools ${connection.name}`,
    server: connection.name,
  })
}

function progressTo(onProgress: (progress: Progress) => void) {
  return (message: NotificationMessage) => {
    if (message.method !== 'notifications/progress') return
    const { progress, total, message: text } = (memberValue(message, 'params') ?? {}) as Partial<Progress>
    const told: unknown = onProgress({
      progress: Number(progress),
      ...(total === undefined ? {} : { total }),
      ...(text === undefined ? {} : { message: text }),
    })
    // Its author may have written it as an async function; what goes wrong there must not end the process.
    if (told instanceof Promise) told.catch((error: unknown) => process.emitWarning(String(error)))
  }
}
