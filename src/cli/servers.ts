// Whoever has the servers: the running gateway where it follows the same configuration, so that none is started twice, else
// a hub for the length of the command. Both are asked the same and answer the same.

import { Fault } from '../base/fault.ts'
import { errorsOf } from '../config/load.ts'
import { configFault } from '../config/problem.ts'
import { explainAccess } from '../gateway/api-access.ts'
import { checkServers, type Wanted as Gathered, type Waiting } from '../gateway/api-gather.ts'
import {
  type Kind,
  listThings,
  listTools,
  readResource,
  type Things,
  type WantedTools,
} from '../gateway/api-lists.ts'
import type { Answer, ExplainAnswer, ReadRequest, ToolsAnswer } from '../gateway/api-types.ts'
import type { Hub } from '../hub.ts'
import { askGateway, gatewayFollows, NO_LIMIT } from './gateway-client.ts'
import { withHub } from './private-hub.ts'
import type { Loaded, Session } from './session.ts'
import { type StatusLine, statusLine } from './status-line.ts'

type Wanted<T extends Gathered> = Omit<T, 'surface' | 'wait' | keyof Waiting>

export interface Servers {
  /** Whether it is the gateway that is asked. */
  readonly running: boolean
  tools(wanted: Wanted<WantedTools>): Promise<ToolsAnswer>
  list(kind: Kind, wanted: Wanted<Gathered>): Promise<Things>
  read(wanted: ReadRequest): Promise<Record<string, unknown>>
  check(names: readonly string[]): Promise<Answer<'GET /api/servers/check'>>
  explain(agent: string, address: string): Promise<ExplainAnswer>
}

export async function withServers<T>(
  session: Session,
  loaded: Loaded,
  work: (servers: Servers) => Promise<T>,
): Promise<T> {
  try {
    if (await gatewayFollows(loaded.active, session.signal)) {
      const line = statusLine(session.out)
      line.show('asking the gateway')
      return await work(remote(session, loaded)).finally(() => line.end())
    }
    return await withHub(session, loaded, {}, (hub, line) => work(own(session, hub, line)))
  } catch (error) {
    const errors = errorsOf(loaded.snapshot)
    // It may stand in the file that could not be read.
    if (error instanceof Fault && error.code === 'SERVER_UNKNOWN' && errors.length > 0)
      throw configFault(errors)
    throw error
  }
}

// --- internal ---

const PATHS: Readonly<Record<Kind, string>> = {
  resources: '/api/resources',
  resourceTemplates: '/api/resources/templates',
  prompts: '/api/prompts',
}

function remote({ signal }: Session, { active }: Loaded): Servers {
  const ask = <R extends object>(path: string, given: object, body?: object) =>
    askGateway<R>(active.places, {
      method: body === undefined ? 'GET' : 'POST',
      path: `${path}?${queryOf(given)}`,
      signal,
      body: body && JSON.stringify(body),
      // What is waited for has limits of its own.
      timeout: NO_LIMIT,
    })
  return {
    running: true,
    tools: (wanted) => ask('/api/tools', { ...wanted, wait: true }),
    list: async (kind, wanted) => {
      // Each kind stands under its own name.
      const answer = await ask<Partial<Record<Kind, Things['items']>> & Omit<Things, 'items'>>(PATHS[kind], {
        ...wanted,
        wait: true,
      })
      return { items: answer[kind] ?? [], servers: answer.servers, failures: answer.failures }
    },
    read: (wanted) => ask('/api/read', {}, wanted),
    check: (names) => ask('/api/servers/check', { server: names }),
    explain: (agent, address) => ask('/api/access', { agent, address }),
  }
}

function queryOf(given: object): URLSearchParams {
  const pairs = Object.entries(given).flatMap(([key, value]): [string, string][] => {
    const values: unknown[] = Array.isArray(value) ? value : value === undefined ? [] : [value]
    return values.map((it) => [key, String(it)])
  })
  return new URLSearchParams(pairs)
}

function own({ signal }: Session, hub: Hub, line: StatusLine): Servers {
  const onWait = (names: readonly string[]) => {
    if (names.length > 0) line.show(`starting ${names.join(', ')}`)
    else line.end()
  }
  const waiting = { wait: true, surface: 'cli', signal, onWait } as const
  return {
    running: false,
    tools: (wanted) => listTools(hub, { ...wanted, ...waiting }),
    list: (kind, wanted) => listThings(hub, kind, { ...wanted, ...waiting }),
    read: async (wanted) => {
      line.show(`reading ${wanted.uri}`)
      return await readResource(hub, wanted, waiting).finally(() => line.end())
    },
    check: async (names) => ({ servers: await checkServers(hub, { names, idle: true, signal, onWait }) }),
    explain: async (agent, address) => explainAccess(hub, agent, address),
  }
}
