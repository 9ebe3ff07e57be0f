// Two native tools by which a model reaches servers' resources.

import { OWNER } from '../policy/access.ts'
import type { NativeTool } from '../registry/native.ts'
import type { CallContext } from './context.ts'
import type { AgentHandle } from './handle.ts'

/** `as` gives the handle of whoever calls: the same gate as for everything else. */
export function resourceTools(
  as: (agent: string | undefined, session: string | undefined) => AgentHandle,
  offered: (agent: string | undefined) => boolean,
): NativeTool[] {
  const annotations = { readOnlyHint: true }
  return [
    {
      name: 'ListMcpResources',
      description: 'Lists the resources of MCP servers: of one, or of all that are connected.',
      inputSchema: {
        type: 'object',
        properties: { server: { type: 'string', description: 'only of this server' } },
        additionalProperties: false,
      },
      annotations,
      forModels: true,
      reads: true,
      visible: offered,
      run: async ({ server }, { agent, session, signal }) => {
        const name = typeof server === 'string' ? server : undefined
        return { resources: await as(agent, session).resources(name, { signal }) }
      },
    },
    {
      name: 'ReadMcpResource',
      description: 'Reads one resource of an MCP server by its uri.',
      inputSchema: {
        type: 'object',
        properties: {
          server: { type: 'string', description: 'the server it is on' },
          uri: { type: 'string', description: 'its uri, as ListMcpResources gives it' },
        },
        required: ['server', 'uri'],
        additionalProperties: false,
      },
      annotations,
      forModels: true,
      reads: true,
      visible: offered,
      run: async ({ server, uri }, { agent, session, signal }) => {
        const { contents } = await as(agent, session).read(String(server), String(uri), { signal })
        return { contents }
      },
    },
  ]
}

/** Whether an agent (undefined: the owner) may use a server that has resources, as far as is known. */
export function hasResources({ rules, manager }: CallContext, agent: string | undefined): boolean {
  const grants = rules().grants(agent === undefined ? OWNER : { kind: 'agent', id: agent })
  return manager.connections.some(
    ({ name, agreement, off }) =>
      agreement?.capabilities['resources'] !== undefined &&
      off === undefined &&
      (grants === undefined || grants.servers.has(name)),
  )
}
