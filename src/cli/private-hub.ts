// A hub for the length of one command. Whatever happens, none of its servers outlives it.

import { Fault } from '../base/fault.ts'
import { maskText } from '../base/redact.ts'
import type { Handlers } from '../connect/answers.ts'
import { type Hub, type HubEvent, type HubOptions, hubOf } from '../hub.ts'
import { safe } from './output.ts'
import type { Loaded, Session } from './session.ts'
import { type StatusLine, statusLine } from './status-line.ts'

type PrivateHubOptions = Handlers & Pick<HubOptions, 'store'>

/** Runs `work` with a hub of what may be acted on, in which nothing has started yet. */
export async function withHub<T>(
  session: Session,
  { active }: Loaded,
  handlers: PrivateHubOptions,
  work: (hub: Hub, line: StatusLine) => Promise<T>,
): Promise<T> {
  const { out, signal } = session
  const line = statusLine(out)
  const release = session.hold()
  const onEvent = (event: HubEvent) => {
    if (event.type === 'reaped')
      for (const { server, pids } of event.processes)
        out.note(`ended ${safe(server)}, which an earlier run had left behind (process ${pids.join(', ')})`)
    if (event.type === 'trouble') out.warn(event.message)
  }
  let hub: Hub | undefined
  try {
    hub = await hubOf(active, { ...handlers, start: false, surface: 'cli', onEvent })
    if (signal.aborted) throw interrupted()
    return await work(hub, line)
  } finally {
    line.end()
    await hub?.close()
    release()
  }
}

/** One line about a server that does not work. */
export function failureLine(server: string, error: string, hint?: string): string {
  // Many faults begin with the name already.
  const what =
    error.startsWith(`${server} `) || error.startsWith(`${server}:`) ? error : `${server}: ${error}`
  return maskText(hint === undefined ? what : `${what} (${hint})`)
}

export function interrupted(): Fault {
  return new Fault('CALL_CANCELLED', 'interrupted')
}
