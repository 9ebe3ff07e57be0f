// Busbar's own tools, for whoever may use what they lead to.

import type { Actor } from '../policy/access.ts'
import type { NativeTool } from '../registry/native.ts'
import type { CallContext } from './context.ts'
import { findTools } from './find-tools.ts'
import type { AgentHandle } from './handle.ts'
import { hasResources, resourceTools } from './resource-tools.ts'
import type { Surfaces } from './surface.ts'

/** What is known of agents by name; undefined is the owner. */
interface Agents {
  readonly surfaces: Surfaces
  /** `session`: of the client, where it has one. */
  as(agent: string | undefined, session: string | undefined): AgentHandle
  actor(agent: string | undefined): Actor
}

export function ownTools(context: CallContext, agents: Agents): NativeTool[] {
  return [
    ...resourceTools(
      (agent, session) => agents.as(agent, session),
      (agent) => hasResources(context, agent),
    ),
    ...findTools((agent) => agents.surfaces.of(agents.actor(agent))),
    context.spill.tool((agent) => agents.actor(agent)),
  ]
}
