// The gate: what a name stands for, and whether somebody may call it. Lists and calls both come through here.

import { Fault } from '../base/fault.ts'
import { nearest } from '../base/suggest.ts'
import type { Connection } from '../connect/connection.ts'
import { namesMethod } from '../connect/definitions.ts'
import type { Actor } from '../policy/access.ts'
import { type Decision, decide, type Step } from '../policy/decide.ts'
import { type OwnTool, type RegisteredTool, serverTool } from '../registry/registry.ts'
import type { CallContext } from './context.ts'

/** What a request is about: a tool of a server, another request to it (`#method`), or a native tool (no server). */
export interface Target {
  readonly server: string
  readonly tool: string
}

/** Something that may be called, if need be after a person was asked. */
export type Admitted =
  | { readonly kind: 'native'; readonly entry: OwnTool; readonly leave: Leave }
  | { readonly kind: 'server'; readonly connection: Connection; readonly leave: Leave }

/** On what terms. */
export type Leave = Exclude<Decision, { verdict: 'deny' }>

/** Whether a call may change something: then it is not sent when it cannot be written down. */
export function mayWrite({ risk }: Leave): boolean {
  return risk !== 'read'
}

/** What an address or a name stands for: `server/tool`, `server:tool`, a native tool's name, or a name from the list. */
export function targetOf({ registry, views }: CallContext, actor: Actor, address: unknown): Target {
  if (typeof address !== 'string')
    throw new Fault('USAGE', `${String(address)} is no address`, { hint: 'write server/tool' })
  const cut = address.indexOf('/')
  if (cut > 0 && cut < address.length - 1)
    return { server: address.slice(0, cut), tool: address.slice(cut + 1) }
  if (registry.native(address)) return { server: '', tool: address }
  const named = views.of(actor).named(address)
  if (named) return { server: named.server, tool: named.name }
  const colon = address.indexOf(':')
  if (cut < 0 && colon > 0 && colon < address.length - 1)
    return { server: address.slice(0, colon), tool: address.slice(colon + 1) }
  throw new Fault('TOOL_UNKNOWN', `${JSON.stringify(address)} names no tool`, {
    hint: 'write server/tool; run: busbar tools',
  })
}

/** Lets a request through, or throws why not. */
export function admit(context: CallContext, actor: Actor, target: Target): Admitted {
  const leave = verdictOn(context, actor, target)
  if (leave.verdict === 'deny') throw denial(context, actor, target, leave)
  if (target.server === '') {
    const entry = context.registry.native(target.tool)
    if (entry && isVisible(entry, actor)) return { kind: 'native', entry, leave }
    throw new Fault('TOOL_UNKNOWN', `there is no tool ${JSON.stringify(target.tool)}`)
  }
  return { kind: 'server', connection: context.manager.get(target.server), leave }
}

/** Whether somebody may use a server at all; whether it is up is another question. */
export function mayReach(context: CallContext, actor: Actor, server: string): boolean {
  const decision = verdictOn(context, actor, { server, tool: undefined })
  return decision.verdict !== 'deny' || decision.code !== 'NO_ACCESS'
}

/** The server itself, for somebody who may use it. */
export function reach(context: CallContext, actor: Actor, server: string): Connection {
  if (!mayReach(context, actor, server)) throw noServer(actor, server)
  return context.manager.get(server)
}

/** Whether somebody sees a tool in their list; the same that lets a call through. */
export function sees(context: CallContext, actor: Actor, entry: RegisteredTool): boolean {
  if (entry.kind === 'native' && !isVisible(entry, actor)) return false
  // Of an older list that is remembered: nobody can call it.
  if (namesMethod(entry.name)) return false
  return verdictOn(context, actor, { server: entry.server, tool: entry.name }).verdict !== 'deny'
}

/** What is decided about something, by what the configuration and its server say of it now. */
export function verdictOn(
  { rules, manager, registry, brakes }: Pick<CallContext, 'rules' | 'manager' | 'registry' | 'brakes'>,
  actor: Actor,
  { server, tool }: { readonly server: string; readonly tool: string | undefined },
  tell?: (step: Step) => void,
): Decision {
  const book = rules()
  const connection = server === '' ? undefined : manager.find(server)
  const definition =
    tool === undefined
      ? undefined
      : server === ''
        ? registry.native(tool)?.tool
        : connection?.tool(tool)?.tool
  const { memories, pins } = brakes() ?? {}
  const native = server === '' && tool !== undefined ? registry.native(tool)?.native : undefined
  const isTool = connection !== undefined && tool !== undefined && definition !== undefined
  return decide(
    {
      enabled: book.enabled,
      grants: book.grants(actor),
      server: server === '' ? 'native' : book.server(server),
      available: connection?.off === undefined,
      tool,
      listed: isTool,
      annotations: definition?.annotations,
      reads: native?.reads === true,
      asks: native?.asks === true,
      service: native?.service === true,
      changed:
        isTool && pins?.verdict(server, tool, serverTool(connection, definition).fingerprint) === 'changed',
      remembered:
        actor.kind === 'owner' || tool === undefined || !memories?.all.length
          ? undefined
          : memories.about(actor.id, server, tool, connection?.plan.identity),
    },
    tell,
  )
}

/** A tool that its server does not list. Only what the one who asks may see is suggested. */
export function unknownTool(context: CallContext, actor: Actor, connection: Connection, name: string): Fault {
  const server = connection.name
  if (namesMethod(name))
    return new Fault('TOOL_UNKNOWN', `${server} has no tool ${JSON.stringify(name)}`, {
      hint: `what begins with # is another request; a program makes it with hub.as(agent).request(${JSON.stringify(server)}, ${JSON.stringify(name.slice(1))}, params)`,
      server,
    })
  const seen = connection.tools.filter(
    (tool) => verdictOn(context, actor, { server, tool: tool.name }).verdict !== 'deny',
  )
  const near = nearest(
    name,
    seen.map((tool) => tool.name),
  )
  return new Fault('TOOL_UNKNOWN', `${server} has no tool ${JSON.stringify(name)}`, {
    hint: near ? `did you mean ${server}/${near}?` : `run: busbar tools ${server}`,
    server,
  })
}

/** A tool that is not what was accepted. */
export function changedTool({ server, tool }: Target): Fault {
  return new Fault(
    'TOOL_CHANGED',
    `the definition of ${server}/${tool} changed, and waits for a person to accept it`,
    {
      hint: `see what changed: busbar pins diff ${server}/${tool}`,
      server,
    },
  )
}

/** A tool that an instance for one alone defines in another way than the server that was judged. */
export function otherTool({ server, tool }: Target): Fault {
  return new Fault(
    'TOOL_CHANGED',
    `the instance of ${server} that this call would go to defines ${tool} in another way than was accepted`,
    { hint: `if the server was updated, start it anew: busbar restart ${server}`, server },
  )
}

/** What would be called now is not what was judged, or what a person was asked about, a moment ago. */
export function changedMeanwhile({ server, tool }: Target, what: 'server' | 'definition'): Fault {
  const address = server === '' ? tool : `${server}/${tool}`
  return new Fault(
    'TOOL_CHANGED',
    what === 'server'
      ? `${server} was configured anew meanwhile, so ${address} was not called`
      : `the definition of ${address} changed meanwhile, so it was not called`,
    {
      hint: 'make the call again: it is judged as it is now',
      ...(server === '' ? {} : { server }),
    },
  )
}

// --- internal ---

function isVisible({ native }: OwnTool, actor: Actor): boolean {
  return native.visible?.(actor.kind === 'owner' ? undefined : actor.id) ?? true
}

function denial(
  { manager }: CallContext,
  actor: Actor,
  { server, tool }: Target,
  decision: Extract<Decision, { verdict: 'deny' }>,
): Fault {
  switch (decision.code) {
    case 'NO_ACCESS':
      return actor.kind === 'agent' && decision.scope === 'tool'
        ? noTool(actor.id, server, tool)
        : noServer(actor, server)
    case 'SERVER_UNKNOWN':
      // Says what it might have been.
      manager.get(server)
      return new Fault('SERVER_UNKNOWN', decision.reason, { server })
    case 'SERVER_UNAVAILABLE':
      return manager.find(server)?.off ?? new Fault('SERVER_UNAVAILABLE', decision.reason, { server })
    case 'TOOL_UNKNOWN':
      return new Fault('TOOL_UNKNOWN', `${server} has no tool ${JSON.stringify(tool)}`, { server })
    case 'TOOL_CHANGED':
      return changedTool({ server, tool })
  }
}

/** The same words whether a server exists or not: who may not use it learns nothing about it. */
function noServer(actor: Actor, server: string): Fault {
  const who = actor.kind === 'owner' ? 'the owner' : actor.id
  return new Fault('NO_ACCESS', `${who} has no server ${JSON.stringify(server)}`, {
    hint: actor.kind === 'agent' ? `see why: busbar explain ${actor.id} ${server}` : undefined,
    server,
  })
}

/** The same words whether the tool exists or not. */
function noTool(agent: string, server: string, tool: string): Fault {
  const address = server === '' ? tool : `${server}/${tool}`
  return new Fault('NO_ACCESS', `${agent} may not use ${JSON.stringify(address)}`, {
    hint: `see why: busbar explain ${agent} ${address}`,
    ...(server === '' ? {} : { server }),
  })
}
