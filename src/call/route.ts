// From an address to what is called: what it names, whether it may be called, and its definition. What was found once is
// found again at no cost until the tools, their servers or the rules change.

import { Fault } from '../base/fault.ts'
import type { Stop } from '../base/stop.ts'
import type { Connection } from '../connect/connection.ts'
import { namesMethod } from '../connect/definitions.ts'
import { awake } from '../connect/reach.ts'
import type { KnownTool } from '../connect/tool-list.ts'
import type { Actor } from '../policy/access.ts'
import type { Tariff } from '../policy/estimate.ts'
import { type OwnTool, type ServerTool, serverTool } from '../registry/registry.ts'
import {
  admit,
  changedMeanwhile,
  changedTool,
  type Leave,
  otherTool,
  type Target,
  unknownTool,
} from './admit.ts'
import type { CallContext } from './context.ts'
import type { Lane } from './lane.ts'
import { tariffFor } from './tariff.ts'

/** A tool of a server that somebody may call. */
export interface Route {
  readonly kind: 'server'
  readonly target: Target
  readonly entry: ServerTool
  readonly connection: Connection
  readonly known: KnownTool
  readonly leave: Leave
  readonly tariff: Tariff | undefined
  /** What was found out for further calls. */
  lane?: Lane | undefined
}

/** A tool of this process that somebody may call. */
export interface OwnRoute {
  readonly kind: 'native'
  readonly target: Target
  readonly entry: OwnTool
  readonly leave: Leave
  readonly tariff: Tariff | undefined
}

interface Waiting {
  readonly signal?: Stop | undefined
  readonly timeout?: number | undefined
}

/**
 * Throws why not. `refuse` throws what is wrong with the arguments: no server is started for those. A promise only where
 * the server has yet to tell of the tool, so that calls keep their order.
 */
export function findRoute(
  context: CallContext,
  actor: Actor,
  target: Target,
  address: string,
  waiting: Waiting,
  refuse: () => void,
): Route | OwnRoute | Promise<Route | OwnRoute> {
  try {
    return routeNow(context, actor, target, address, waiting, refuse)
  } catch (error) {
    const pins = context.brakes()?.pins
    if (!(error instanceof Fault && error.code === 'TOOL_CHANGED') || pins === undefined) throw error
    // Another process may have accepted it.
    return pins.refresh().then(() => routeNow(context, actor, target, address, waiting, refuse))
  }
}

/**
 * Throws when a tool is no longer what was judged. For the last moment before it is sent: since then a person, the ledger
 * or the server's own start may have been waited for. `called`: the instance it is sent to, which lists for itself.
 */
export function recheck(route: Route, called: Connection): void {
  const { connection, target, known } = route
  // Nearly always.
  if (called === connection && connection.tool(target.tool) === known) return
  if (!isAsJudged(route, connection)) throw changedTool(target)
  if (called === connection) return
  if (connection.off) throw connection.off
  if (!isAsJudged(route, called)) throw otherTool(target)
}

// --- internal ---

function isAsJudged({ target, known, entry }: Route, called: Connection): boolean {
  const now = called.tool(target.tool)
  if (now === known) return true
  return now !== undefined && serverTool(called, now.tool).fingerprint === entry.fingerprint
}

function routeNow(
  context: CallContext,
  actor: Actor,
  target: Target,
  address: string,
  waiting: Waiting,
  refuse: () => void,
): Route | OwnRoute | Promise<Route> {
  const view = context.views.of(actor)
  const admitted = admit(context, actor, target)
  const pins = context.brakes()?.pins
  refuse()
  // Who sees a native tool may depend on more than is known here.
  if (admitted.kind === 'native')
    return { ...admitted, target, tariff: tariffFor(context, target, admitted.entry.tool) }
  const { connection } = admitted
  // What is called is a tool, and this names another request, which was judged as such.
  if (namesMethod(target.tool)) throw unknownTool(context, actor, connection, target.tool)
  const routeTo = (known: KnownTool, leave: Leave): Route => {
    const entry = serverTool(connection, known.tool)
    if (pins?.verdict(target.server, target.tool, entry.fingerprint) === 'new')
      pins.first(target.server, known.tool)
    const tariff = tariffFor(context, target, known.tool)
    const route: Route = { kind: 'server', target, entry, connection, known, leave, tariff, lane: undefined }
    // What was decided before something changed is not kept for after it.
    if (context.views.of(actor) === view) view.routes.set(address, route)
    return route
  }
  const known = connection.tool(target.tool)
  if (known) return routeTo(known, admitted.leave)
  return findTool(context, actor, connection, target.tool, waiting).then((found) => {
    // Only now it is known what the tool is said to do, and whether that is what was accepted.
    const again = admit(context, actor, target)
    if (again.kind !== 'server' || again.connection !== connection) throw changedMeanwhile(target, 'server')
    return routeTo(found, again.leave)
  })
}

/** A tool that is not known yet: of a server that was never up, or whose list is old. */
async function findTool(
  context: CallContext,
  actor: Actor,
  connection: Connection,
  name: string,
  { signal, timeout }: Waiting,
): Promise<KnownTool> {
  await awake(connection, { method: 'tools/call', signal, timeout })
  if (connection.tool(name) === undefined) await connection.relist()
  const known = connection.tool(name)
  if (known === undefined) throw unknownTool(context, actor, connection, name)
  return known
}
