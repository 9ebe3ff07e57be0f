// `busbar list --check`: starts servers, waits until each is up or has failed, and shows what became of it.

import { Fault } from '../base/fault.ts'
import { maskText } from '../base/redact.ts'
import { shellWord } from '../base/shell-word.ts'
import { type ServerRow, serverNamed, serverRows } from './describe.ts'
import { type Output, safe } from './output.ts'
import { failureLine, withHub } from './private-hub.ts'
import { failOnErrors, type Loaded, type Session } from './session.ts'
import { isStartable, type Settled, settle } from './settle.ts'

interface CheckedRow extends ServerRow {
  readonly serverInfo?: object
  readonly era?: string
  readonly protocolVersion?: string
  readonly hint?: string
  /** Until it was up or had failed. */
  readonly ms?: number
}

/** Checks the named servers, or every one that can be started. */
export async function checkServers(session: Session, names: readonly string[]): Promise<void> {
  const loaded = await session.load()
  for (const name of names) serverNamed(loaded.snapshot, name)
  const wanted = new Set(names.length > 0 ? names : loaded.active.servers.keys())
  await withHub(session, loaded, {}, async (hub, line) => {
    const connections = hub.context.manager.connections.filter(({ name }) => wanted.has(name))
    const settled = await settle(connections.filter(isStartable), session.signal, line)
    const rows = checkedRows(loaded, wanted, settled)
    session.out.answer({ enabled: loaded.active.config.enabled, servers: rows }, () =>
      rows.length === 0
        ? 'No servers yet. Run: busbar import   or: busbar add NAME -- COMMAND'
        : lines(rows, session.out),
    )
    // A named one that cannot even be tried is the person's answer; of all, those are only shown.
    const refused = names.length > 0 ? connections.find((it) => !isStartable(it)) : undefined
    await refused?.ready(session.signal)
    const fault = verdict(settled)
    if (fault) throw fault
  })
  failOnErrors(loaded.snapshot)
}

// --- internal ---

function checkedRows(
  loaded: Loaded,
  wanted: ReadonlySet<string>,
  settled: readonly Settled[],
): readonly CheckedRow[] {
  const found = new Map(settled.map((it) => [it.connection.name, it]))
  return serverRows(loaded)
    .filter(({ name }) => wanted.has(name))
    .map((row) => {
      const it = found.get(row.name)
      return it ? { ...row, ...outcome(it) } : row
    })
}

function outcome({ status, fault, ms }: Settled): Partial<CheckedRow> {
  const { serverInfo, era, protocolVersion } = status
  if (fault)
    return {
      status: fault.code === 'AUTH_REQUIRED' ? 'needs-auth' : 'failed',
      error: maskText(fault.message),
      ...(fault.hint === undefined ? {} : { hint: fault.hint }),
      ms,
    }
  return {
    status: 'connected',
    tools: status.tools,
    ...(serverInfo === undefined ? {} : { serverInfo }),
    ...(era === undefined ? {} : { era }),
    ...(protocolVersion === undefined ? {} : { protocolVersion }),
    ms,
  }
}

function lines(rows: readonly CheckedRow[], out: Output): string[] {
  const table = out.table(
    ['NAME', 'TRANSPORT', 'STATUS', 'SERVER', 'PROTOCOL', 'TOOLS', 'TIME'],
    rows.map((row) => [
      row.name,
      row.transport ?? '-',
      row.status,
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
  const untrusted = !row.trusted && row.error === undefined
  const error = untrusted ? 'not trusted yet, so it was not started' : (row.error ?? row.status)
  const hint = untrusted ? `run: busbar trust ${shellWord(row.name)}` : row.hint
  const next = hint === undefined ? [] : [`  ${out.style('cyan', 'next:')} ${safe(hint)}`]
  return ['', safe(failureLine(row.name, error)), ...next]
}

function verdict(settled: readonly Settled[]): Fault | undefined {
  const names = (all: readonly Settled[]) => all.map(({ connection }) => connection.name).join(', ')
  const signIn = settled.filter(({ fault }) => fault?.code === 'AUTH_REQUIRED')
  const failed = settled.filter((it) => it.fault !== undefined && !signIn.includes(it))
  if (failed.length > 0)
    return new Fault('SERVER_UNREACHABLE', `${failed.length} of ${settled.length} failed: ${names(failed)}`, {
      hint: 'run: busbar doctor',
    })
  if (signIn.length > 0) return new Fault('AUTH_REQUIRED', `sign-in is needed for ${names(signIn)}`)
  return undefined
}
