// Why somebody sees no tools. An empty list would leave them guessing.

import type { Actor } from '../policy/access.ts'
import { mayReach } from './admit.ts'
import type { CallContext } from './context.ts'
import { isForAll } from './view.ts'

/** One sentence with what to do; undefined when there are tools. */
export function whyEmpty(context: CallContext, actor: Actor): string | undefined {
  if (context.views.of(actor).tools.some(isForAll)) return undefined
  const who = actor.kind === 'owner' ? 'There' : actor.id
  const book = context.rules()
  if (!book.enabled) return 'Integrations are off: no server starts. Set enabled: true.'
  const grants = book.grants(actor)
  if (grants?.off) return `${who} is disabled (${grants.off.join('.')}).`
  const own = context.manager.connections.filter(({ name }) => mayReach(context, actor, name))
  if (own.length === 0)
    return actor.kind === 'owner'
      ? 'There are no servers. Run: busbar add NAME -- COMMAND'
      : `${who} has no servers. Run: busbar agents grant ${who} SERVER`
  const reasons = own.map((connection) => {
    const { name, known, off } = connection
    const { status, error } = connection.status()
    if (off) return `${name} is disabled`
    if (status === 'failed' || status === 'needs-auth') return `${name}: ${error ?? status}`
    if (connection.tools.length > 0) return `${name}: none of its tools may be used`
    return known ? `${name} offers none` : `${name} is not known yet`
  })
  const next = actor.kind === 'owner' ? 'busbar list --check' : `busbar explain ${who} ${own[0]?.name}`
  return `${actor.kind === 'owner' ? 'There are' : `${who} has`} no tools: ${reasons.join('; ')}. Run: ${next}`
}
