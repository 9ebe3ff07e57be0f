// Agents' tokens, for the owner: made, listed without being told again, revoked.

import type { Hub } from '../hub.ts'
import { oneOf } from './api-lists.ts'
import type { Answer } from './api-types.ts'
import { makeToken, revokeTokens, shownTokens } from './tokens.ts'

/** Takes over tokens that were made or revoked. */
interface Refreshing {
  refreshTokens(): Promise<void>
}

interface Following extends Refreshing {
  isWritten(agent: string): boolean
  look(): Promise<unknown>
}

/** `GET /api/agents/NAME/token` */
export async function tokensOf(hub: Hub, agent: string): Promise<Answer<'GET /api/agents/AGENT/token'>> {
  const tokens = await shownTokens(hub.store.agents, agent)
  // Those of an agent of another configuration are told as well: whoever looks for the reason of a 401 must find them.
  if (tokens.length === 0) hub.actor(agent)
  return { agent, tokens }
}

/** `POST /api/agents/NAME/token?life=&replace=` */
export async function newToken(
  hub: Hub,
  host: Following,
  agent: string,
  query: URLSearchParams,
): Promise<Answer<'POST /api/agents/AGENT/token'>> {
  // Only of agents there are: a token for a name nobody has would wait for somebody to take it.
  const isAwaited = host.isWritten(agent)
  if (!isAwaited) hub.actor(agent)
  const given = query.get('life') ?? undefined
  const life = given === undefined ? undefined : /^\d{1,15}$/.test(given) ? Number(given) : Number.NaN
  const replace = oneOf('replace', ['true', 'false'], query.get('replace')) === 'true'
  const made = await makeToken(hub.store.agents, agent, { life, replace })
  await host.refreshTokens()
  // That it had none may be all that kept it out.
  if (isAwaited) await host.look()
  return made
}

/** `DELETE /api/agents/NAME/token?id=` */
export async function removeTokens(
  hub: Hub,
  host: Refreshing,
  agent: string,
  query: URLSearchParams,
): Promise<Answer<'DELETE /api/agents/AGENT/token'>> {
  const revoked = await revokeTokens(hub.store.agents, agent, query.get('id') ?? undefined)
  await host.refreshTokens()
  return { agent, revoked }
}
