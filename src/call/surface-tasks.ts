// Tasks that servers keep, as far as a client of all servers as one can use them: those of the servers of its own era. The
// legacy one says so among the capabilities of the protocol; in the modern one it is an extension.

import { isRecord } from '../base/record.ts'
import { type Agreement, type Era, TASKS_EXTENSION } from '../wire/era.ts'

type Capabilities = Readonly<Record<string, unknown>>

/**
 * What is said of them to a client of that era; nothing where no server has any. Of each task alone, by its id: a list of all
 * of them there is not. Other extensions are not told of: what they need is not carried through here.
 */
export function taskCapabilities(
  era: Era,
  agreements: readonly (Agreement | undefined)[],
): Record<string, object> {
  const all = agreements.flatMap((one) => (one?.era === era ? [one.capabilities] : []))
  if (era === 'modern') return all.some(hasExtension) ? { extensions: { [TASKS_EXTENSION]: {} } } : {}
  const offered = all.map(({ tasks }) => tasks).filter(isRecord)
  const used = offered.filter(({ requests }) => isRecord(requests))
  if (used.length === 0) return {}
  const cancel = used.some((tasks) => tasks['cancel'] !== undefined) ? { cancel: {} } : {}
  return { tasks: { requests: { tools: { call: {} } }, ...cancel } }
}

/** Whether tasks are among these capabilities, in the way of either era. */
export function offersTasks(capabilities: Capabilities): boolean {
  return capabilities['tasks'] !== undefined || hasExtension(capabilities)
}

// --- internal ---

function hasExtension({ extensions }: Capabilities): boolean {
  return isRecord(extensions) && isRecord(extensions[TASKS_EXTENSION])
}
