// Tokens of agents: made, listed and revoked through the running gateway, which knows them from then on, else in the store.

import { Fault } from '../base/fault.ts'
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

export async function agentToken(session: Session, agent: string, options: TokenOptions): Promise<void> {
  const { out } = session
  const life = options.expires === undefined ? undefined : timeSpan('expires', options.expires, '12h or 30d')
  const { active } = await session.load({ warnings: false })
  if (!options.revoke) actorOf(agent, active.assignments)
  const path = `/api/agents/${encodeURIComponent(agent)}/token`
  const ask = async <T extends object>(
    method: 'GET' | 'POST' | 'DELETE',
    query: Record<string, string | undefined> = {},
  ): Promise<T> => {
    const given = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined)
    const text = new URLSearchParams(given).toString()
    const { signal } = session
    return await askGateway<T>(active.places, { method, path: `${path}?${text}`, signal })
  }
  const runs = await gatewayRuns(active.places, session.signal)
  const inStore = async <T>(work: (agents: Agents) => Promise<T>): Promise<T> => {
    let result: T | undefined
    await withStore(session, active, async ({ agents }) => {
      result = await work(agents)
    })
    return result as T
  }
  if (options.list) {
    const tokens = runs
      ? (await ask<{ tokens: ShownToken[] }>('GET')).tokens
      : await inStore((agents) => shownTokens(agents, agent))
    out.answer({ agent, tokens }, () =>
      tokens.length === 0 ? `${agent} has no token.` : table(session, tokens),
    )
    return
  }
  if (options.revoke) {
    const revoked = runs
      ? (await ask<{ revoked: number }>('DELETE', { id: options.id })).revoked
      : await inStore((agents) => revokeTokens(agents, agent, options.id))
    if (revoked === 0)
      throw new Fault('USAGE', `${agent} has no such token`, {
        hint: `see: busbar agents token ${agent} --list`,
      })
    out.answer({ agent, revoked }, () => `Revoked ${revoked} token${revoked === 1 ? '' : 's'} of ${agent}.`)
    return
  }
  const made = runs
    ? await ask<NewToken>('POST', {
        life: life === undefined ? undefined : String(life),
        replace: options.replace ? 'true' : undefined,
      })
    : await inStore((agents) => makeToken(agents, agent, { life, replace: options.replace ?? false }))
  out.note(`this is shown once; only a digest is kept`)
  out.answer(made, () => made.token)
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
