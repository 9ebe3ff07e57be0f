// `busbar doctor`: cause and remedy of what keeps servers from working: the configuration, the gateway and its clients,
// then each server itself.

import { chmodSync } from 'node:fs'
import { Fault } from '../../base/fault.ts'
import { examine, type Finding } from '../../config/doctor.ts'
import { effective } from '../../config/effective.ts'
import { loadConfig } from '../../config/load.ts'
import { asTyped } from '../as-typed.ts'
import { command } from '../command.ts'
import type { StartFinding } from '../doctor-start.ts'
import { safe } from '../output.ts'
import type { Loaded, Session } from '../session.ts'

export const spec = command({
  summary: 'find what is wrong and how to mend it',
  options: {
    fix: { about: 'mend what can be mended without a decision (file permissions)' },
    'no-start': { about: 'only look, start no server' },
  },
  help: `
Looks at the configuration; at the gateway, its store, its port and what waits there for a person; at the clients that are
connected (busbar connect) and whether their address and token still open anything. Then starts every server that is on and
trusted and says how far it came: the program that runs, where it is looked for, its exit code and last words; of a remote
one the name, the connection, the certificate and the HTTP status. With --no-start a server counts as it is in the gateway
that runs. Each finding has its cause and the command that mends it.
Exit 1 when something is wrong that must be mended, 4 when only a server does not work or no gateway runs.

Examples:
  busbar doctor
  busbar doctor --no-start
  busbar doctor --fix
  busbar doctor --json`,
  run: async (session, _, options) => {
    const { out } = session
    const findings = await look(session, options['no-start'] !== true)
    const fixed = options.fix ? findings.filter(repair) : []
    const left = findings.filter((it) => !fixed.includes(it))
    const ok = !left.some((it) => it.severity === 'error')
    out.answer({ ok, findings: left.map(forPrograms), fixed: fixed.map(forPrograms) }, () => [
      ...left.flatMap((it) => lines(session, it)),
      ...fixed.map((it) => `${out.style('green', 'mended')}   ${safe(it.message)}`),
      '',
      summary(left),
    ])
    if (!ok) {
      const first = firstError(left)
      if (first?.fault) throw first.fault
      throw new Fault('CONFIG_INVALID', first?.message ?? 'something is wrong', {
        hint: first?.fix,
        server: first?.server,
      })
    }
  },
})

// --- internal ---

async function look(session: Session, start: boolean): Promise<StartFinding[]> {
  const snapshot = await loadConfig(session.loadOptions)
  const before = session.subjects(snapshot)
  // A state folder that is not safe is a finding; nothing can be looked up in it, nor kept or started with it.
  const unsafe = examine(snapshot, before)
  if (unsafe.some(({ check }) => check === 'state')) return unsafe
  const subjects = await session.accepted(snapshot, before)
  const findings: StartFinding[] = session.options.trust ? examine(snapshot, subjects) : unsafe
  const loaded: Loaded = { snapshot, subjects, active: effective(snapshot, subjects) }
  const { examineSecrets } = await import('../doctor-secrets.ts')
  findings.push(...(await examineSecrets(snapshot)))
  const [{ gatherFacts }, { examineClients }, { examineGateway }] = await Promise.all([
    import('../doctor-facts.ts'),
    import('../doctor-clients.ts'),
    import('../doctor-gateway.ts'),
  ])
  try {
    const facts = await gatherFacts(session, loaded)
    findings.push(...examineClients(facts), ...examineGateway(facts))
    // To start servers is to record it, and a damaged store would be moved away by that.
    if (facts.store !== undefined) return findings
  } catch (error) {
    if (!(error instanceof Fault) || error.code === 'CALL_CANCELLED') throw error
    const fix = error.hint === undefined ? {} : { fix: error.hint }
    findings.push({ severity: 'error', check: 'gateway', message: error.message, ...fix, fault: error })
  }
  if (!start || snapshot.servers.size === 0) return findings
  // How it is in the gateway explains nothing, and is told only where the same was not found here.
  const wrong = findings.filter(({ severity, check }) => severity === 'error' && check !== 'gateway-server')
  const known = new Set(wrong.map(({ server }) => server))
  const { tryServers } = await import('../doctor-start.ts')
  const tried = await tryServers(session, loaded)
  // What is wrong with its entry explains why it does not start; once is enough.
  const news = tried.filter((it) => it.severity !== 'error' || !known.has(it.server))
  const failing = new Set(news.filter(({ severity }) => severity !== 'ok').map(({ server }) => server))
  // The same of the same server, as the gateway sees it.
  return [...findings.filter((it) => it.check !== 'gateway-server' || !failing.has(it.server)), ...news]
}

/** What is wrong with the configuration comes before what may follow from it. */
function firstError(findings: readonly StartFinding[]): StartFinding | undefined {
  const errors = findings.filter((it) => it.severity === 'error')
  return errors.find((it) => it.fault === undefined) ?? errors[0]
}

/** Makes a finding's repair; true when there was one. */
function repair(finding: Finding): boolean {
  if (finding.repair === undefined) return false
  chmodSync(finding.repair.file, finding.repair.mode)
  return true
}

function forPrograms({ repair: made, fault: _, ...finding }: StartFinding): object {
  return { ...finding, fixable: made !== undefined }
}

function lines({ out }: Session, finding: StartFinding): string[] {
  const word = {
    ok: out.style('green', 'ok     '),
    warning: out.style('yellow', 'warning'),
    error: out.style('red', 'error  '),
  }
  const where = [
    ['program', finding.program],
    ['PATH', finding.path],
  ].flatMap(([name, value]) => (value === undefined ? [] : [`         ${name}: ${safe(value)}`]))
  const fix =
    finding.fix === undefined ? [] : [`         ${out.style('cyan', 'fix:')} ${safe(asTyped(finding.fix))}`]
  const stderr = (finding.stderr ?? []).map((line) => `         ${out.style('dim', `| ${safe(line)}`)}`)
  // Of one that runs, the program is in the message.
  const how = finding.severity === 'ok' ? [] : where
  return [`${word[finding.severity]}  ${safe(finding.message)}`, ...how, ...stderr, ...fix]
}

function summary(findings: readonly Finding[]): string {
  const count = (severity: Finding['severity']) => findings.filter((it) => it.severity === severity).length
  const errors = count('error')
  const warnings = count('warning')
  if (errors + warnings === 0) return 'All is well.'
  const plural = (number: number, word: string) => `${number} ${word}${number === 1 ? '' : 's'}`
  return `${plural(errors, 'error')}, ${plural(warnings, 'warning')}.`
}
