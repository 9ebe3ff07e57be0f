// In whose name a conversation is held when nobody said so. Never the owner's: nobody asks the owner before a call.

import { Fault } from '../base/fault.ts'
import type { Config } from '../config/schema.ts'

export function defaultAgent({ agent, lead, agents }: Config): string {
  if (agent.as !== undefined) return agent.as
  const names = Object.keys(agents).filter((name) => agents[name]?.enabled !== false)
  const chief = lead ?? 'ceo'
  if (names.includes(chief)) return chief
  const [only] = names
  if (only !== undefined && names.length === 1) return only
  throw new Fault(
    'USAGE',
    only === undefined ? 'there is no agent to talk to' : `there are several agents: ${names.join(', ')}`,
    {
      hint:
        only === undefined
          ? 'run: busbar agents add NAME'
          : 'say which one, or set agent.as in the configuration',
    },
  )
}

/** The same; undefined where somebody has to say which one. */
export function likelyAgent(config: Config): string | undefined {
  try {
    return defaultAgent(config)
  } catch (error) {
    if (error instanceof Fault) return undefined
    throw error
  }
}
