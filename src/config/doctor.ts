// What is wrong with the configuration on this machine, each with its cause and how to mend it.

import { accessSync, constants, statSync } from 'node:fs'
import { join } from 'node:path'
import { ELSEWHERE, lookUp, unsafeReason, WRITABLE } from '../base/places.ts'
import { isSecretName, isSecretValue, maskText } from '../base/redact.ts'
import { findCommand } from './binary.ts'
import { locateCommand } from './command.ts'
import { checkAccounts, checkAuth } from './doctor-auth.ts'
import { missingVariables } from './expand.ts'
import { hazardsOf } from './hazards.ts'
import { missingFolder, missingProgram } from './missing-program.ts'
import { problemLine } from './problem.ts'
import type { ServerEntry, Snapshot } from './snapshot.ts'
import { missingWarnings, scopeOf } from './status.ts'
import type { Subject } from './trust.ts'
import { TRUST_FILE } from './trust.ts'

export interface Finding {
  readonly severity: 'ok' | 'warning' | 'error'
  readonly check: string
  readonly message: string
  readonly fix?: string
  readonly server?: string
  /** Of a process that does not run: where its command is looked for. */
  readonly path?: string
  /** A repair that is safe to make without asking. */
  readonly repair?: { readonly kind: 'mode'; readonly file: string; readonly mode: number }
}

const MIN_NODE = [20, 19]

/** Runs every check of the configuration. Looks only. */
export function examine(snapshot: Snapshot, subjects: readonly Subject[]): Finding[] {
  const entries = [...snapshot.servers.values()]
  return [
    checkNode(),
    ...checkFiles(snapshot),
    ...snapshot.problems.map(
      (problem): Finding => ({
        severity: problem.severity,
        check: 'config',
        message: problemLine(problem),
        ...(problem.server === undefined ? {} : { server: problem.server }),
      }),
    ),
    ...missingWarnings(snapshot).map(
      (problem): Finding => ({
        severity: 'warning',
        check: 'variables',
        message: `${problem.file}${problem.line ? `:${problem.line}` : ''}: ${problem.message}`,
        ...(problem.hint ? { fix: problem.hint.replace(/^run: /, '') } : {}),
        ...(problem.server === undefined ? {} : { server: problem.server }),
      }),
    ),
    ...entries.flatMap((entry) => checkServer(entry, snapshot)),
    ...checkTrust(subjects),
    ...checkUse(snapshot),
    ...checkAccounts(snapshot),
    ...checkState(snapshot),
  ]
}

/** Whether this Node is new enough. */
export function checkNode(version: string = process.versions.node): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [wantMajor = 0, wantMinor = 0] = MIN_NODE
  const ok = major > wantMajor || (major === wantMajor && minor >= wantMinor)
  return ok
    ? { severity: 'ok', check: 'node', message: `Node ${version}` }
    : {
        severity: 'error',
        check: 'node',
        message: `Node ${version} is too old`,
        fix: `install Node ${MIN_NODE.join('.')} or newer`,
      }
}

// --- internal ---

function checkState(snapshot: Snapshot): Finding[] {
  const { state } = snapshot.places
  const found = lookUp(state)
  if ('reason' in found) return [noState(`${state} cannot be made: ${found.reason}`, WRITABLE)]
  const unsafe = [state, join(state, TRUST_FILE)].flatMap((file): Finding[] => {
    const reason = unsafeReason(file)
    if (reason === undefined) return []
    // In the folder is all that is kept: tokens, records, what undoes an edit.
    const fix =
      file === state
        ? `make it yours alone: chmod 700 ${file} (and chown it, if it is somebody else's); see who wrote there`
        : `see who wrote it; then delete it, and accept again what you trust: rm ${file}`
    return [{ severity: 'error', check: 'state', message: `${file} ${reason}`, fix }]
  })
  if (unsafe.length > 0) return unsafe
  try {
    accessSync(found.there, constants.W_OK | constants.X_OK)
    return []
  } catch {
    return [noState(`${found.there} cannot be written`, ELSEWHERE)]
  }
}

function noState(message: string, fix: string): Finding {
  const lost = 'so nothing can be kept: no trust, no tokens, no records'
  return { severity: 'error', check: 'state', message: `${message}, ${lost}`, fix }
}

function checkFiles(snapshot: Snapshot): Finding[] {
  const read = snapshot.looked.filter((it) => it.state === 'read')
  // One that is there and broken is told by what is wrong with it.
  if (read.length === 0 && snapshot.looked.some((it) => it.state === 'broken')) return []
  if (read.length === 0)
    return [
      {
        severity: 'warning',
        check: 'files',
        message: 'no configuration file was found',
        fix: 'busbar import',
      },
    ]
  return [
    { severity: 'ok', check: 'files', message: `read ${read.map((it) => it.file).join(', ')}` },
    ...snapshot.layers.flatMap(({ source }): Finding[] => {
      const stats = statSync(source.file, { throwIfNoEntry: false })
      if (!stats || (stats.mode & 0o077) === 0 || !holdsSecrets(source.document.value)) return []
      const repair = { kind: 'mode' as const, file: source.file, mode: 0o600 }
      const message = `${source.file} holds what looks like a secret and can be read by other users`
      const fix = `chmod 600 ${source.file}; better: busbar secrets set NAME, and write \${secret:NAME} there`
      return [{ severity: 'warning', check: 'secrets', message, fix, repair }]
    }),
  ]
}

function checkServer(entry: ServerEntry, snapshot: Snapshot): Finding[] {
  const { definition, name } = entry
  if (!definition?.enabled || !snapshot.config.enabled) return []
  const findings: Finding[] = []
  const scope = scopeOf(entry, snapshot)
  const located = locateCommand(definition, scope)
  const say = (check: string, { message, hint }: { message: string; hint: string }, path?: string) =>
    findings.push({
      severity: 'error',
      check,
      server: name,
      message: `${name}: ${message}`,
      fix: hint.replace(/^run: /, ''),
      ...(path === undefined ? {} : { path: maskText(path) }),
    })
  if (located && missingVariables(definition.command, scope).length === 0) {
    const { command, cwd, path } = located
    const folder = missingFolder(cwd)
    if (folder) say('cwd', folder)
    else if (findCommand(command, cwd, path) === undefined)
      say('command', missingProgram(command, cwd, path), command.includes('/') ? undefined : path)
  }
  findings.push(...checkAuth(entry, snapshot))
  if (definition.sandbox && findCommand('bwrap', snapshot.root, snapshot.env['PATH']) === undefined)
    findings.push({
      severity: 'error',
      check: 'sandbox',
      server: name,
      message: `${name}: asks for a sandbox, and bubblewrap is not installed`,
      fix: 'install bubblewrap (apt install bubblewrap)',
    })
  for (const hazard of hazardsOf(definition))
    findings.push({ severity: 'warning', check: 'hazard', server: name, message: `${name}: ${hazard}` })
  return findings
}

function checkTrust(subjects: readonly Subject[]): Finding[] {
  const asking = subjects.filter((it) => it.state !== 'trusted')
  if (asking.length === 0) return []
  const names = asking.map((it) => (it.kind === 'server' ? it.name : `settings of ${it.file}`))
  return [
    {
      severity: 'warning',
      check: 'trust',
      message: `not trusted yet: ${names.join(', ')}`,
      fix: 'busbar trust',
    },
  ]
}

function checkUse(snapshot: Snapshot): Finding[] {
  if (!snapshot.config.enabled)
    return [
      {
        severity: 'warning',
        check: 'switch',
        message: 'integrations are off: no server starts',
        fix: 'set enabled: true',
      },
    ]
  if (snapshot.assignments.length === 0) return []
  const used = new Set(snapshot.assignments.flatMap((it) => it.servers))
  return [...snapshot.servers.values()]
    .filter((entry) => entry.definition?.enabled && !used.has(entry.name))
    .map((entry) => ({
      severity: 'warning',
      check: 'use',
      server: entry.name,
      message: `${entry.name}: no enabled agent may use it, so it does not start`,
      fix: `add it to an agent's servers, or run: busbar remove ${entry.name}`,
    }))
}

function holdsSecrets(value: unknown, key = ''): boolean {
  if (typeof value === 'string')
    return (
      !value.includes('${') &&
      value.length >= 8 &&
      (isSecretValue(value) || (isSecretName(key) && !/^\w+:\/\//.test(value)))
    )
  if (Array.isArray(value)) return value.some((item) => holdsSecrets(item))
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(([name, item]) => holdsSecrets(item, name))
}
