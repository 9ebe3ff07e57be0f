// A notification of a client's own kind on its way to one server, as `server/#method`: the same gate and the same record as
// for requests. Nothing answers it, so nobody can be told that a person is asked: what would have to wait for one is refused.

import { Fault } from '../base/fault.ts'
import type { Stop } from '../base/stop.ts'
import { admit } from './admit.ts'
import type { CallContext } from './context.ts'
import { withInstance } from './own-instance.ts'
import { type Asking, Passage } from './passage.ts'
import { withServer } from './result.ts'
import { tariffFor } from './tariff.ts'
import { termsFor } from './terms.ts'

export interface Announced {
  readonly server: string
  readonly method: string
  /** As they came; undefined where there are none. */
  readonly params: string | undefined
  readonly signal: Stop
}

/** Resolves when it was passed on. Throws why it was not; that is written down. */
export async function announce(
  context: CallContext,
  asking: Asking,
  { server, method, params, signal }: Announced,
): Promise<void> {
  const target = { server, tool: `#${method}` }
  const text = params ?? '{}'
  let passage: Passage | undefined
  try {
    const { leave } = admit(context, asking.actor, target)
    // The owner is not asked about anything.
    if (leave.verdict === 'ask' && asking.actor.kind !== 'owner') throw cannotWait(server, method)
    const tariff = tariffFor(context, target, undefined)
    const terms = await termsFor(context, asking, target, leave, tariff, text)
    const begun = Passage.begin(context, asking, target, text, terms)
    passage = begun
    begun.proceed(await begun.written())
    await withInstance(context.manager.get(server), asking, { method, signal }, async (own) => {
      const link = await own.ready(signal)
      begun.sent()
      link.notify(method, params)
    })
    begun.told()
    await begun.written()
  } catch (thrown) {
    const error = withServer(server, thrown)
    if (passage === undefined) await Passage.refused(context, asking, target, text, error)
    else {
      passage.failed(error)
      await passage.written()
    }
    throw error
  }
}

// --- internal ---

function cannotWait(server: string, method: string): Fault {
  return new Fault('APPROVAL_DENIED', `${method} would have to wait for a person, and nothing answers it`, {
    hint: `to let it pass, write in the entry of ${server}: approval: { "#${method}": allow }`,
    server,
  })
}
