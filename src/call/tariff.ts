// What calls of a tool cost, as far as that can be told before.

import type { Tool } from '../connect/definitions.ts'
import { priceOf, type Tariff } from '../policy/estimate.ts'
import type { Target } from './admit.ts'
import type { CallContext } from './context.ts'

/** What calls of a tool take, for as long as the configuration stays as it is; undefined where nothing is metered. */
export function tariffFor(
  context: CallContext,
  target: Target,
  definition: Tool | undefined,
): Tariff | undefined {
  const { server, tool } = target
  return context.recording()?.energy?.estimates.tariff(server, tool, definition, priceFor(context, target))
}

/** What a call will probably cost; undefined where nothing is metered. */
export function estimateFor(
  context: CallContext,
  target: Target,
  definition: Tool | undefined,
): number | undefined {
  const { server, tool } = target
  const estimate = context
    .recording()
    ?.energy?.estimates.of(server, tool, definition, priceFor(context, target))
  return estimate && Math.round(estimate.energy * 100) / 100
}

// --- internal ---

function priceFor(context: CallContext, { server, tool }: Target): number {
  return server === '' ? 0 : priceOf(context.active().servers.get(server)?.definition?.price, tool)
}
