// Puts together what a connection says of itself.

import { mapTexts } from '../base/map-texts.ts'
import { maskText } from '../base/redact.ts'
import type { Agreement, Implementation } from '../wire/era.ts'
import type { Tool } from './definitions.ts'
import type { OwnSecrets } from './own-secrets.ts'
import type { Plan } from './plan.ts'
import { linkOf, type State, wordFor } from './state.ts'
import type { Journal, ServerStatus, ToolSummary } from './status.ts'
import type { Diagnosis } from './transport.ts'

export interface Reported {
  readonly plan: Plan
  readonly state: State
  readonly hidden: boolean
  readonly agreement: Agreement | undefined
  readonly tools: readonly Tool[]
  /** When it last showed a sign of life. */
  readonly heard: number | undefined
  readonly inFlight: number
  readonly instances: number | undefined
  readonly journal: Journal
}

export function reportOf({
  plan,
  state,
  hidden,
  agreement,
  tools,
  heard,
  inFlight,
  instances,
  journal,
}: Reported): ServerStatus {
  const link = linkOf(state)
  const error = 'error' in state ? state.error : undefined
  const { stderr, exitCode, signal } = (error?.details ?? {}) as Diagnosis
  const { secrets } = plan
  return {
    name: plan.name,
    transport: plan.transport,
    status: hidden ? 'disabled' : wordFor(state),
    state: hidden ? 'hidden' : state.kind,
    scope: plan.scope,
    source: plan.source,
    config: plan.shown,
    ...agreementFields(agreement, secrets),
    tools: tools.map((tool) => secrets.shown(summary(tool))),
    error:
      (error && maskText(secrets.scrub(error.message))) ??
      (state.kind === 'disabled' ? state.reason : undefined),
    hint: error?.hint && secrets.scrub(error.hint),
    fault: error?.code,
    exitCode,
    signal,
    stderr: stderr && maskText(secrets.scrub(stderr)),
    pid: link?.pid,
    lastPing: time(heard),
    connectedSince: link && 'since' in state ? time(state.since) : undefined,
    retryAt: state.kind === 'waiting' ? time(state.until) : undefined,
    inFlight,
    ...(instances === undefined ? {} : { instances }),
    errors: [...journal.errors],
    oddities: journal.oddities,
  }
}

// --- internal ---

function summary(tool: Tool): ToolSummary {
  const given = tool.annotations ?? {}
  const flag = (key: string, name: string) => (typeof given[key] === 'boolean' ? { [name]: given[key] } : {})
  return {
    name: tool.name,
    ...(typeof tool.title === 'string' ? { title: tool.title } : {}),
    ...(typeof tool.description === 'string' ? { description: tool.description } : {}),
    annotations: {
      ...flag('readOnlyHint', 'readOnly'),
      ...flag('destructiveHint', 'destructive'),
      ...flag('idempotentHint', 'idempotent'),
      ...flag('openWorldHint', 'openWorld'),
    },
  }
}

function agreementFields(agreement: Agreement | undefined, { scrub }: OwnSecrets) {
  if (agreement === undefined) return {}
  const { serverInfo, era, version, instructions } = agreement
  return {
    // Nothing is asked for by what a server calls itself, so its name is a text like any other.
    serverInfo: serverInfo && mapTexts(named(serverInfo), scrub),
    era,
    protocolVersion: version,
    instructions: instructions && scrub(instructions),
  }
}

/** Icons can be as large as they like, and nobody looks at them here. */
function named({ name, version, title }: Implementation): Implementation {
  return { name, version, ...(title === undefined ? {} : { title }) }
}

function time(milliseconds: number | undefined): string | undefined {
  return milliseconds === undefined ? undefined : new Date(milliseconds).toISOString()
}
