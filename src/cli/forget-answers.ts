// What people said about later calls, forgotten with the server or the agent that it was about: the next one of that name
// is another.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Fault } from '../base/fault.ts'
import type { Rule } from '../store/policy.ts'
import { withDesk } from './approvals.ts'
import { gatewayRuns } from './gateway-client.ts'
import type { Session } from './session.ts'

/** Whom and what something was said about. */
type About = Pick<Rule, 'agent' | 'server'>

/**
 * Forgets the rules that `isAbout` says, and takes back questions and answers about the same that were not used. What was
 * asked for is done by then, so trouble is only told.
 */
export async function forgetAnswers(
  session: Session,
  isAbout: (about: About) => boolean,
  isRule: (rule: Rule) => boolean = () => true,
): Promise<void> {
  try {
    const { active } = await session.load({ warnings: false })
    const { places } = active
    // Nothing was ever asked: no store is made to find that out.
    if (!existsSync(join(places.state, 'busbar.db')) && !(await gatewayRuns(places, session.signal))) return
    await withDesk(session, active, async (desk) => {
      for (const rule of (await desk.rules()).filter((one) => isAbout(one) && isRule(one)))
        await desk.removeRule(rule.id)
      for (const status of ['pending', 'allowed'] as const)
        for (const { id } of (await desk.list(status)).filter(isAbout)) await desk.withdraw(id)
    })
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    session.out.warn(
      `what is remembered about it could not be forgotten: ${error.message}; run: busbar approve rules`,
    )
  }
}
