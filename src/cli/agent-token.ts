// Tokens of agents: made, listed and revoked through the running gateway, which knows them from then on, else in the store.

import { Fault } from '../base/fault.ts'
import type { Snapshot } from '../config/snapshot.ts'
import { makeToken, type NewToken, revokeTokens, type ShownToken, shownTokens } from '../gateway/tokens.ts'
import { actorOf } from '../policy/access.ts'
import type { Agents } from '../store/policy.ts'
import { askGateway, gatewayRuns } from './gateway-client.ts'
import { withStore } from './recorded.ts'
import type { Session } from './session.ts'
import { timeSpan } from './time-span.ts'

export interface TokenOptions {
  readonly expires?: string
  readonly replace?: boolean
  readonly list?: boolean
  readonly revoke?: boolean
  readonly id?: string
}

/** The tokens of one agent, wherever they are kept at present. */
export interface AgentTokens {
  make(options: { readonly life?: number | undefined; readonly replace?: boolean }): Promise<NewToken>
  list(): Promise<ShownToken[]>
  /** Tells how many there were. */
  revoke(id?: string): Promise<number>
}

export async function tokensOf(session: Session, active: Snapshot, agent: string): Promise<AgentTokens> {
  const { signal } = session
  if (await gatewayRuns(active.places, signal)) {
    const ask = async <T extends object>(
      method: 'GET' | 'POST' | 'DELETE',
      query: Record<string, string | undefined> = {},
    ): Promise<T> => {
      const given = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined)
      const path = `/api/agents/${encodeURIComponent(agent)}/token?${new URLSearchParams(given)}`
      return await askGateway<T>(active.places, { method, path, signal })
    }
    return {
      make: ({ life, replace }) =>
        ask('POST', {
          life: life === undefined ? undefined : String(life),
          replace: replace ? 'true' : undefined,
        }),
      list: async () => (await ask<{ tokens: ShownToken[] }>('GET')).tokens,
      revoke: async (id) => (await ask<{ revoked: number }>('DELETE', { id })).revoked,
    }
  }
  const inStore = async <T>(work: (agents: Agents) => Promise<T>): Promise<T> => {
    let result: T | undefined
    await withStore(session, active, async ({ agents }) => {
      result = await work(agents)
    })
    return result as T
  }
  return {
    make: (options) => inStore((agents) => makeToken(agents, agent, options)),
    list: () => inStore((agents) => shownTokens(agents, agent)),
    revoke: (id) => inStore((agents) => revokeTokens(agents, agent, id)),
  }
}

export async function agentToken(session: Session, agent: string, options: TokenOptions): Promise<void> {
  const { out } = session
  const life = options.expires === undefined ? undefined : timeSpan('expires', options.expires, '12h or 30d')
  const { active } = await session.load({ warnings: false })
  if (!options.revoke) actorOf(agent, active)
  const kept = await tokensOf(session, active, agent)
  if (options.list) {
    const tokens = await kept.list()
    out.answer({ agent, tokens }, () =>
      tokens.length === 0 ? `${agent} has no token.` : table(session, tokens),
    )
    return
  }
  if (options.revoke) {
    const revoked = await kept.revoke(options.id)
    if (revoked === 0)
      throw new Fault('USAGE', `${agent} has no such token`, {
        hint: `see: busbar agents token ${agent} --list`,
      })
    out.answer({ agent, revoked }, () => `Revoked ${revoked} token${revoked === 1 ? '' : 's'} of ${agent}.`)
    return
  }
  const made = await kept.make({ life, replace: options.replace ?? false })
  out.note(`this is shown once; only a digest is kept`)
  out.answer(made, () => made.token)
}

/** Revokes what opens anything for an agent that is gone: a later one of its name is somebody else. Tells how many. */
export async function revokeAll(
  session: Session,
  agent: string,
  workers: readonly string[],
): Promise<number> {
  const { active } = await session.load({ warnings: false })
  // It still stands in a file that is not ours to change.
  if (Object.hasOwn(active.config.agents, agent)) return 0
  let revoked = 0
  try {
    for (const name of [agent, ...workers.map((worker) => `${agent}/${worker}`)])
      revoked += await (await tokensOf(session, active, name)).revoke()
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    throw new Fault(error.code, `${agent} is removed, but its tokens are not revoked: ${error.message}`, {
      hint: `run: busbar agents token ${agent} --revoke`,
      cause: error,
    })
  }
  return revoked
}

// --- internal ---

function table({ out }: Session, tokens: readonly ShownToken[]): string[] {
  return out.table(
    ['ID', 'STATE', 'MADE', 'EXPIRES'],
    tokens.map(({ id, state, createdAt, expiresAt }) => [
      id,
      state,
      new Date(createdAt).toISOString(),
      expiresAt === undefined ? 'never' : new Date(expiresAt).toISOString(),
    ]),
  )
}
