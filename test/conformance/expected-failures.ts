// The scenarios that may fail for now, each with the reason. The list only shrinks: a test fails when one of these
// passes, and when any other does not.
import type { Outcome, Revision, Scenario } from './runner.ts'

/** Server scenarios through the gateway, by revision, with the reason. */
export const SERVER_FAILURES: Record<Revision, Record<string, string>> = {
  '2025-11-25': {},
  '2026-07-28': {},
}

const NO_SIGN_IN = 'signing in to servers is not built yet'
const SIGN_IN = [
  'auth/metadata-default',
  'auth/metadata-var1',
  'auth/metadata-var2',
  'auth/metadata-var3',
  'auth/basic-cimd',
  'auth/scope-from-www-authenticate',
  'auth/scope-from-scopes-supported',
  'auth/scope-omitted-when-undefined',
  'auth/scope-step-up',
  'auth/scope-retry-limit',
  'auth/token-endpoint-auth-basic',
  'auth/token-endpoint-auth-post',
  'auth/token-endpoint-auth-none',
  'auth/pre-registration',
]

/** Client scenarios with the library, by revision, with the reason. */
export const CLIENT_FAILURES: Record<Revision, Record<string, string>> = {
  '2025-11-25': because(NO_SIGN_IN, SIGN_IN),
  '2026-07-28': because(NO_SIGN_IN, [
    ...SIGN_IN,
    'auth/resource-mismatch',
    'auth/offline-access-scope',
    'auth/offline-access-not-supported',
    'auth/authorization-server-migration',
    'auth/iss-supported',
    'auth/iss-not-advertised',
    'auth/iss-supported-missing',
    'auth/iss-wrong-issuer',
    'auth/iss-unexpected',
    'auth/iss-normalized',
    'auth/metadata-issuer-mismatch',
  ]),
}

// The suite runs these without scoring them; we hold ourselves to them all the same.
const REQUIRED_TOO = new Set([
  'http-header-validation',
  'http-custom-header-server-validation',
  'json-schema-2020-12',
  'json-schema-2020-12-preservation',
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
  for (const { scenario, scored, passed, failures } of outcomes) {
    if (!decides({ name: scenario, scored })) continue
    const reason = expected[scenario]
    if (passed && reason !== undefined) lines.push(`${scenario} passes now: take it off the list (${reason})`)
    if (!passed && reason === undefined) lines.push(`${scenario} fails: ${failures.join('; ')}`)
  }
  const known = new Set(outcomes.map((outcome) => outcome.scenario))
  for (const scenario of Object.keys(expected))
    if (!known.has(scenario)) lines.push(`${scenario} is listed and was not run`)
  return lines
}

function because(reason: string, scenarios: readonly string[]): Record<string, string> {
  return Object.fromEntries(scenarios.map((scenario) => [scenario, reason]))
}
