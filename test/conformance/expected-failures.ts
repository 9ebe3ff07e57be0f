// The scenarios that may fail for now, each with the reason. The list only shrinks: a test fails when one of these
// passes, and when any other does not.
import type { Outcome, Revision, Scenario } from './runner.ts'

/** Server scenarios through the gateway, by revision, with the reason. */
export const SERVER_FAILURES: Record<Revision, Record<string, string>> = {
  '2025-11-25': {},
  '2026-07-28': {},
}

/** Client scenarios with the library, by revision, with the reason. */
export const CLIENT_FAILURES: Record<Revision, Record<string, string>> = {
  '2025-11-25': {},
  '2026-07-28': {},
}

// The suite runs these without scoring them; we hold ourselves to them all the same.
const REQUIRED_TOO = new Set([
  'http-header-validation',
  'http-custom-header-server-validation',
  'json-schema-2020-12',
  'json-schema-2020-12-preservation',
  'auth/client-credentials-jwt',
  'auth/client-credentials-basic',
  'auth/dpop',
  'auth/dpop-nonce',
])

/** Whether a scenario decides; the others (extensions, and what came after the revision) are only of interest. */
export function decides({ name, scored }: Scenario): boolean {
  return scored || REQUIRED_TOO.has(name)
}

/** One line for each outcome that is not as expected: none means conformance but for what is listed. */
export function surprises(
  outcomes: readonly Outcome[],
  expected: Readonly<Record<string, string>>,
): string[] {
  const lines: string[] = []
  for (const { scenario, scored, ...outcome } of outcomes) {
    if (!decides({ name: scenario, scored })) continue
    const reason = expected[scenario]
    // What a client should do when it signs in is only warned about, and we do all of it.
    const failures = [...outcome.failures, ...(scenario.startsWith('auth/') ? outcome.warnings : [])]
    const passed = failures.length === 0
    if (passed && reason !== undefined) lines.push(`${scenario} passes now: take it off the list (${reason})`)
    if (!passed && reason === undefined) lines.push(`${scenario} fails: ${failures.join('; ')}`)
  }
  const known = new Set(outcomes.map((outcome) => outcome.scenario))
  for (const scenario of Object.keys(expected))
    if (!known.has(scenario)) lines.push(`${scenario} is listed and was not run`)
  return lines
}
