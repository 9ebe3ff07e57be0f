// The agent's own tools in its workspace, as the configuration that is followed now has them.

import { resolve } from 'node:path'
import type { Snapshot } from '../config/snapshot.ts'
import type { Ledger } from '../connect/process/ledger.ts'
import type { NativeTool } from '../registry/native.ts'
import { likelyAgent } from './identity.ts'
import { workspaceTools } from './native/tools.ts'

/** For the agent that talks when nobody says which one, and for no other. Throws a fault when the workspace is none. */
export function toolsOf({ config, env, root, places }: Snapshot, ledger: Ledger): NativeTool[] {
  const { workspace, tools } = config.agent
  if (workspace === undefined) return []
  const name = likelyAgent(config)
  if (name === undefined) return []
  return workspaceTools({
    root: resolve(root, workspace.replace(/^~(?=\/|$)/, places.home)),
    closed: [places.state, places.config, places.cache],
    tools,
    env,
    ledger,
    visible: (agent) => agent === name,
  })
}
