// Saying what a server or a section lacks, so that a person can supply it.

import type { Fault } from '../base/fault.ts'
import { inputVariable } from './expand.ts'
import type { SecretReader } from './secret-reader.ts'

/** `TOKEN, the secret GITHUB`. */
export function missingText(missing: readonly string[]): string {
  return missing.map(nameText).join(', ')
}

/** `TOKEN is not set`, as a clause. */
export function notSet(missing: readonly string[], secrets: SecretReader | undefined): string {
  const fault = faultOf(missing, secrets)
  if (fault) return fault.message
  if (missing.every(isFile)) return `${missing.join(', ')} does not exist`
  return `${missingText(missing)} ${missing.length > 1 ? 'are' : 'is'} not set`
}

/** What to do about it. */
export function missingHint(missing: readonly string[], secrets: SecretReader | undefined): string {
  const fault = faultOf(missing, secrets)
  if (fault) return fault.hint ?? 'run: busbar secrets list'
  if (missing.some(isFile)) return 'make that file, or take envFile out'
  if (missing.some((name) => /^(?!input:|secret:)\w+:/.test(name) || hasOddName(name)))
    return 'Busbar does not fill that in; write a ${VARIABLE} or a ${secret:NAME} instead'
  const kept = secretsIn(missing)
  const variables = missing.filter((name) => secretOf(name) === undefined)
  const exported = variables.map((name) => `${exportName(name)}=…`)
  return `run: ${[
    ...(exported.length > 0 ? [`export ${exported.join(' ')}`] : []),
    ...kept.map((name) => `busbar secrets set ${name}`),
  ].join(' && ')}`
}

/** Why a secret among them cannot be used, though it may well be there. */
export function faultOf(missing: readonly string[], secrets: SecretReader | undefined): Fault | undefined {
  for (const name of secretsIn(missing)) {
    const reading = secrets?.read(name)
    if (reading?.kind === 'unusable') return reading.fault
  }
  return undefined
}

/** The names of secrets among those of variables. */
export function secretsIn(variables: readonly string[]): string[] {
  return variables.flatMap((name) => secretOf(name) ?? [])
}

// --- internal ---

function secretOf(name: string): string | undefined {
  return name.startsWith('secret:') && !hasOddName(name) ? name.slice('secret:'.length) : undefined
}

/** What other tools write behind `secret:` is no name of ours. */
function hasOddName(name: string): boolean {
  return name.startsWith('secret:') && !/^secret:[A-Za-z_][\w.-]{0,99}$/.test(name)
}

function nameText(name: string): string {
  const secret = secretOf(name)
  if (secret !== undefined) return `the secret ${secret}`
  return name.startsWith('input:') ? `\${${name}}` : name
}

function exportName(name: string): string {
  return name.startsWith('input:') ? inputVariable(name.slice('input:'.length)) : name
}

function isFile(name: string): boolean {
  return name.startsWith('envFile ')
}
