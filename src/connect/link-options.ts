// What a connection to a server is opened with.

import type { LinkEvents, LinkOptions } from './link.ts'
import type { Plan } from './plan.ts'
import type { ToolList } from './tool-list.ts'

export async function linkOptions(
  plan: Plan,
  { expected, remembered }: ToolList,
  signal: AbortSignal,
  events: LinkEvents,
): Promise<LinkOptions> {
  return {
    ...(await plan.link(plan.account)),
    server: plan.name,
    expected: plan.era ?? expected,
    // A package that has to be fetched first takes its time, once.
    deadline: remembered === undefined ? plan.firstDeadline : plan.deadline,
    limit: plan.limits.message,
    signal,
    events,
  }
}
