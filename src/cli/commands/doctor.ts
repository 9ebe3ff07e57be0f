// `busbar doctor`: cause and remedy of what keeps servers from working. So far: the configuration.

import { chmodSync } from 'node:fs'
import { Fault } from '../../base/fault.ts'
import { examine, type Finding } from '../../config/doctor.ts'
import { loadConfig } from '../../config/load.ts'
import { command } from '../command.ts'
import { safe } from '../output.ts'
import type { Session } from '../session.ts'

export const spec = command({
  summary: 'find what is wrong and how to mend it',
  options: { fix: { about: 'mend what can be mended without a decision (file permissions)' } },
  help: `
Exit 1 when something is wrong.

Examples:
  busbar doctor
  busbar doctor --fix
  busbar doctor --json`,
  run: async (session, _, options) => {
    const { out } = session
    const findings = await look(session)
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
      const first = left.find((it) => it.severity === 'error')
      throw new Fault('CONFIG_INVALID', first?.message ?? 'something is wrong', {
        hint: first?.fix,
        server: first?.server,
      })
    }
  },
})

// --- internal ---

async function look(session: Session): Promise<Finding[]> {
  const snapshot = await loadConfig(session.loadOptions)
  return examine(snapshot, session.subjects(snapshot))
}

/** Makes a finding's repair; true when there was one. */
function repair(finding: Finding): boolean {
  if (finding.repair === undefined) return false
  chmodSync(finding.repair.file, finding.repair.mode)
  return true
}

function forPrograms({ repair: made, ...finding }: Finding): object {
  return { ...finding, fixable: made !== undefined }
}

function lines({ out }: Session, finding: Finding): string[] {
  const word = {
    ok: out.style('green', 'ok     '),
    warning: out.style('yellow', 'warning'),
    error: out.style('red', 'error  '),
  }
  const fix = finding.fix === undefined ? [] : [`         ${out.style('cyan', 'fix:')} ${safe(finding.fix)}`]
  return [`${word[finding.severity]}  ${safe(finding.message)}`, ...fix]
}

function summary(findings: readonly Finding[]): string {
  const count = (severity: Finding['severity']) => findings.filter((it) => it.severity === severity).length
  const errors = count('error')
  const warnings = count('warning')
  if (errors + warnings === 0) return 'All is well.'
  const plural = (number: number, word: string) => `${number} ${word}${number === 1 ? '' : 's'}`
  return `${plural(errors, 'error')}, ${plural(warnings, 'warning')}.`
}
