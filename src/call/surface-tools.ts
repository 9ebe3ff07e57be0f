// All tools that a client may be shown as one list, written once and sent many times.

import { isRecord } from '../base/record.ts'
import type { Actor } from '../policy/access.ts'
import type { RegisteredTool } from '../registry/registry.ts'
import type { CallContext } from './context.ts'
import { isForAll, type View } from './view.ts'
import { whyEmpty } from './why-empty.ts'

export interface ToolsPage {
  /** `"tools":[…]`, the inside of a result. */
  readonly bytes: Buffer
  /** Why there are none. */
  readonly reason: string | undefined
}

/** In the order of their names, which says nothing of who was up first. */
export function toolsPage(context: CallContext, actor: Actor, view: View): ToolsPage {
  const tools = view
    .listed(false)
    .map((entry) => ({ name: view.nameOf(entry), entry }))
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .map(({ name, entry }) => JSON.stringify(listed(name, entry)))
  return {
    bytes: Buffer.from(`"tools":[${tools.join(',')}]`),
    reason: view.tools.some(isForAll) ? undefined : whyEmpty(context, actor),
  }
}

/** A tool as clients see it: as its server describes it, and whose it is. */
export function listed(name: string, { server, name: own, tool }: RegisteredTool): object {
  if (server === '') return tool
  const _meta = isRecord(tool['_meta']) ? tool['_meta'] : {}
  return { ...tool, name, _meta: { ..._meta, 'busbar/server': server, 'busbar/tool': own } }
}
