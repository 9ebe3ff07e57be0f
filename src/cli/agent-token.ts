// Tokens of agents: made, listed and revoked through the running gateway, which knows them from then on, else in the store.

import { Fault } from '../base/fault.ts'
import { duration } from '../config/schema-values.ts'
import { makeToken, type NewToken, revokeTokens, type ShownToken, shownTokens } from '../gateway/tokens.ts'
import { actorOf } from '../policy/access.ts'
import type { Agents } from '../store/policy.ts'
import { askGateway, gatewayRuns } from './gateway-client.ts'
import { withStore } from './recorded.ts'
import type { Session } from './session.ts'

export interface TokenOptions {
  readonly expires?: string
  readonly replace?: boolean
  readonly list?: boolean
  readonly revoke?: boolean
  readonly id?: string
}

export async function agentToken(session: Session, agent: string, options: TokenOptions): Promise<void> {
  const { out } = session
  const life = options.expires === undefined ? undefined : lifeOf(options.expires)
  const { active } = await session.load({ warnings: false })
  if (!options.revoke) actorOf(agent, active.assignments)
  const path = `/api/agents/${encodeURIComponent(agent)}/token`
  const ask = async (method: 'GET' | 'POST' | 'DELETE', query: Record<string, string | undefined> = {}) => {
    const given = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined)
    const text = new URLSearchParams(given).toString()
    const { signal } = session
    return await askGateway(active.places, { method, path: `${path}?${text}`, signal })
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
      ? ((await ask('GET'))['tokens'] as ShownToken[])
      : await inStore((agents) => shownTokens(agents, agent))
    out.answer({ agent, tokens }, () =>
      tokens.length === 0 ? `${agent} has no token.` : table(session, tokens),
    )
    return
  }
  if (options.revoke) {
    const revoked = runs
      ? Number((await ask('DELETE', { id: options.id }))['revoked'])
      : await inStore((agents) => revokeTokens(agents, agent, options.id))
    if (revoked === 0)
      throw new Fault('USAGE', `${agent} has no such token`, {
        hint: `see: busbar agents token ${agent} --list`,
      })
    out.answer({ agent, revoked }, () => `Revoked ${revoked} token${revoked === 1 ? '' : 's'} of ${agent}.`)
    return
  }
  const made = runs
    ? ((await ask('POST', {
        life: life === undefined ? undefined : String(life),
        replace: options.replace ? 'true' : undefined,
      })) as unknown as NewToken)
    : await inStore((agents) => makeToken(agents, agent, { life, replace: options.replace ?? false }))
  out.note(`this is shown once; only a digest is kept`)
  out.answer(made, () => made.token)
}

// --- internal ---

const DAY = 24 * 60 * 60 * 1000

function lifeOf(text: string): number {
  const days = /^(\d+(?:\.\d+)?)d$/.exec(text)?.[1]
  const parsed = days === undefined ? duration.safeParse(text) : undefined
  const life = days === undefined ? (parsed?.success ? parsed.data : 0) : Number(days) * DAY
  if (life > 0) return life
  throw new Fault('USAGE', `--expires is "${text}"`, { hint: 'write it like 12h or 30d' })
}

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
