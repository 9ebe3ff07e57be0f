// The part of `busbar doctor` that tries: starts every server that may be started and says what became of it.

import { STATUS_CODES } from 'node:http'
import { Fault } from '../base/fault.ts'
import { maskText } from '../base/redact.ts'
import { shellWord } from '../base/shell-word.ts'
import { findCommand } from '../config/binary.ts'
import { type Located, locateCommand } from '../config/command.ts'
import type { Finding } from '../config/doctor.ts'
import { scopeOf } from '../config/status.ts'
import { failureLine, withHub } from './private-hub.ts'
import type { Loaded, Session } from './session.ts'
import { isStartable, type Settled, settle } from './settle.ts'

export interface StartFinding extends Finding {
  /** The program that runs, as it was found. */
  readonly program?: string
  /** Of a remote server: how far the way to it leads. */
  readonly stage?: Stage
  readonly exitCode?: number
  readonly signal?: string
  /** The last lines it wrote. */
  readonly stderr?: readonly string[]
  readonly ms?: number
  /** What keeps it from working; not for programs, which have the rest. */
  readonly fault?: Fault
}

type Stage = 'address' | 'name' | 'connection' | 'security' | 'http' | 'protocol'

export async function tryServers(session: Session, loaded: Loaded): Promise<StartFinding[]> {
  return await withHub(session, loaded, {}, async (hub, line) => {
    const able = hub.context.manager.connections.filter(isStartable)
    const settled = await settle(able, session.signal, line)
    return settled.flatMap((it) => [
      finding(it, loaded),
      ...slowness(it.connection.name, it, it.connection.plan),
    ])
  })
}

/** A server that is up, but took so long that it may miss its deadline another time. */
export function slowness(
  name: string,
  { ms, fault }: Pick<Settled, 'ms' | 'fault'>,
  { deadline }: { readonly deadline: number },
): StartFinding[] {
  if (fault !== undefined || ms <= deadline / 2) return []
  const seconds = (time: number) => `${(time / 1000).toFixed(1)} s`
  return [
    {
      severity: 'warning',
      check: 'slow',
      server: name,
      ms,
      message: `${name} took ${seconds(ms)} to start, of ${seconds(deadline)} that it has`,
      fix: `install its package instead of fetching it at each start, or give it more: timeouts.connect of ${shellWord(name)}`,
    },
  ]
}

// --- internal ---

const STDERR_LINES = 10

function finding(settled: Settled, loaded: Loaded): StartFinding {
  const { connection, status, fault, ms } = settled
  const { name } = connection
  const located = locatedOf(name, loaded)
  const program = located && findCommand(located.command, located.cwd, located.path)
  const common = { check: 'start', server: name, ms, ...(program === undefined ? {} : { program }) }
  if (fault === undefined) {
    const { serverInfo, protocolVersion, tools } = status
    const who = serverInfo ? `${serverInfo.name} ${serverInfo.version}` : 'the server'
    const where = program === undefined ? '' : ` (${program})`
    const message = `${name}: ${who} answers, protocol ${protocolVersion}, ${tools.length} tools, ${ms} ms${where}`
    return { ...common, severity: 'ok', message }
  }
  const signIn = fault.code === 'AUTH_REQUIRED'
  const stage = status.transport === 'stdio' ? undefined : stageOf(fault)
  const { exitCode, signal } = fault.details ?? {}
  const stderr = stderrOf(fault)
  const fix =
    fault.hint ??
    (stage ? HINTS[stage] : undefined) ??
    `busbar get ${shellWord(name)} shows how it is started`
  return {
    ...common,
    severity: signIn ? 'warning' : 'error',
    message: failureLine(name, withStatus(fault)),
    fix: fix.replace(/^run: /, ''),
    ...(located?.path === undefined ? {} : { path: maskText(located.path) }),
    ...(stage === undefined ? {} : { stage }),
    ...(typeof exitCode === 'number' ? { exitCode } : {}),
    ...(typeof signal === 'string' ? { signal } : {}),
    ...(stderr.length > 0 ? { stderr } : {}),
    fault: new Fault(fault.code, failureLine(name, fault.message), { hint: fix, server: name }),
  }
}

function locatedOf(name: string, { active }: Loaded): Located | undefined {
  const entry = active.servers.get(name)
  return entry?.definition && locateCommand(entry.definition, scopeOf(entry, active))
}

/** Where the way to a remote server ends. */
function stageOf({ code, details, message }: Fault): Stage {
  const cause = String(details?.['code'] ?? '')
  if (code === 'ADDRESS_REFUSED') return 'address'
  if (cause === 'ENOTFOUND' || cause === 'EAI_AGAIN') return 'name'
  if (/CERT|TLS|SSL|^EPROTO|^UNABLE_TO/.test(cause) || message.includes('secure')) return 'security'
  if (typeof details?.['status'] === 'number') return 'http'
  return code === 'SERVER_UNREACHABLE' ? 'connection' : 'protocol'
}

const HINTS: Readonly<Partial<Record<Stage, string>>> = {
  name: 'check the host in its url, and that this machine is online',
  connection: 'check host and port in its url, and that it runs',
  security: 'check that its url should begin with https, and the clock of this machine',
  http: 'check the path in its url: is it the one of its MCP endpoint?',
  protocol: 'it was reached and did not answer as an MCP server does; check the path in its url',
}

/** A status alone says little: `answered 502` becomes `answered 502 (Bad Gateway)`. */
function withStatus({ message, details }: Fault): string {
  const status = details?.['status']
  const words = typeof status === 'number' ? STATUS_CODES[status] : undefined
  return words === undefined
    ? message
    : message.replace(`answered ${status}`, `answered ${status} (${words})`)
}

function stderrOf({ details }: Fault): string[] {
  const stderr = details?.['stderr']
  if (typeof stderr !== 'string') return []
  return stderr.trim().split('\n').slice(-STDERR_LINES).map(maskText)
}
