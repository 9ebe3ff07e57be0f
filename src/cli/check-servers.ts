// `busbar list --check`: starts servers, waits until each is up or has failed, and shows what became of it.

import { Fault } from '../base/fault.ts'
import { maskText } from '../base/redact.ts'
import { shellWord } from '../base/shell-word.ts'
import { faultFrom } from '../gateway/api-fault.ts'
import type { CheckedServer } from '../gateway/api-types.ts'
import { type ServerRow, serverNamed, serverRows } from './describe.ts'
import { instancesText } from './live-table.ts'
import { type Output, safe } from './output.ts'
import { failureLine } from './private-hub.ts'
import { withServers } from './servers.ts'
import { failOnErrors, type Loaded, type Session } from './session.ts'

interface CheckedRow extends ServerRow {
  readonly serverInfo?: object
  readonly era?: string
  readonly protocolVersion?: string
  readonly hint?: string
  /** How many there are for single agents or sessions. */
  readonly instances?: number
  /** Until it was up or had failed. */
  readonly ms?: number
}

/** Checks the named servers, or every one that can be started. */
export async function checkServers(session: Session, names: readonly string[]): Promise<void> {
  const loaded = await session.load()
  for (const name of names) serverNamed(loaded.snapshot, name)
  await withServers(session, loaded, async (servers) => {
    const { servers: checked } = await servers.check(names)
    const rows = checkedRows(loaded, checked, names)
    session.out.answer({ enabled: loaded.active.config.enabled, servers: rows }, () =>
      rows.length === 0
        ? 'No servers yet. Run: busbar import   or: busbar add NAME -- COMMAND'
        : lines(rows, session.out),
    )
    // A named one that cannot even be tried is the person's answer; of all, those are only shown.
    const refused = names.length > 0 ? checked.find(({ tried }) => !tried)?.fault : undefined
    if (refused) throw faultFrom(refused, 'it cannot be started')
    const fault = verdict(checked.filter(({ tried }) => tried))
    if (fault) throw fault
  })
  failOnErrors(loaded.snapshot)
}

// --- internal ---

function checkedRows(
  loaded: Loaded,
  checked: readonly CheckedServer[],
  names: readonly string[],
): readonly CheckedRow[] {
  const found = new Map(checked.map((it) => [it.name, it]))
  return serverRows(loaded)
    .filter(({ name }) => names.length === 0 || names.includes(name))
    .map((row) => {
      const it = found.get(row.name)
      return it ? { ...row, ...outcome(it) } : row
    })
}

function outcome({ tried, status, fault, ms }: CheckedServer): Partial<CheckedRow> {
  const { serverInfo, era, protocolVersion, instances } = status
  // What was switched off in the gateway alone is off, whatever the file says.
  if (!tried) return status.status === 'disabled' ? { status: 'disabled' } : {}
  const time = ms === undefined ? {} : { ms }
  if (fault)
    return {
      status: fault.code === 'AUTH_REQUIRED' ? 'needs-auth' : 'failed',
      error: maskText(fault.message),
      ...(fault.hint === undefined ? {} : { hint: fault.hint }),
      ...time,
    }
  return {
    status: 'connected',
    tools: status.tools,
    ...(serverInfo === undefined ? {} : { serverInfo }),
    ...(era === undefined ? {} : { era }),
    ...(protocolVersion === undefined ? {} : { protocolVersion }),
    ...(instances === undefined ? {} : { instances }),
    ...time,
  }
}

function lines(rows: readonly CheckedRow[], out: Output): string[] {
  const table = out.table(
    ['NAME', 'TRANSPORT', 'STATUS', 'SERVER', 'PROTOCOL', 'TOOLS', 'TIME'],
    rows.map((row) => [
      row.name,
      row.transport ?? '-',
      row.instances ? `${row.status}, ${instancesText(row.instances)}` : row.status,
      serverText(row.serverInfo),
      row.protocolVersion ?? '-',
      row.tools === null ? '-' : String(row.tools.length),
      row.ms === undefined ? '-' : `${row.ms} ms`,
    ]),
  )
  return [...table, ...rows.flatMap((row) => reason(row, out))]
}

function serverText(info: CheckedRow['serverInfo']): string {
  const { name, version } = { name: undefined, version: undefined, ...info }
  return name === undefined ? '-' : [name, version].filter((it) => it !== undefined).join(' ')
}

/** Why a server is not up, and what to do about it. */
function reason(row: CheckedRow, out: Output): string[] {
  if (row.status === 'connected' || row.status === 'disabled') return []
  const { error, hint } = why(row)
  const next = hint === undefined ? [] : [`  ${out.style('cyan', 'next:')} ${safe(hint)}`]
  return ['', safe(failureLine(row.name, error)), ...next]
}

function why({ name, status, trusted, error, hint }: CheckedRow): {
  error: string
  hint?: string | undefined
} {
  if (error !== undefined) return { error, hint }
  if (!trusted)
    return { error: 'not trusted yet, so it was not started', hint: `run: busbar trust ${shellWord(name)}` }
  if (status !== 'pending') return { error: status, hint }
  const start = `start it: busbar list --check ${shellWord(name)}`
  return { error: 'not started, because nothing needs it yet', hint: start }
}

function verdict(tried: readonly CheckedServer[]): Fault | undefined {
  const names = (all: readonly CheckedServer[]) => all.map(({ name }) => name).join(', ')
  const signIn = tried.filter(({ fault }) => fault?.code === 'AUTH_REQUIRED')
  const failed = tried.filter((it) => it.fault !== undefined && !signIn.includes(it))
  if (failed.length > 0)
    return new Fault('SERVER_UNREACHABLE', `${failed.length} of ${tried.length} failed: ${names(failed)}`, {
      hint: 'run: busbar doctor',
    })
  if (signIn.length > 0) return new Fault('AUTH_REQUIRED', `sign-in is needed for ${names(signIn)}`)
  return undefined
}
