// Whether somebody may call something, and whether a person is asked first. Pure: no clock, no store, no await. The same
// function filters lists, lets calls through and explains itself, so the three cannot disagree.

import { matchesGlob } from '../base/glob.ts'
import type { Path } from '../config/edit/change.ts'
import { namesMethod } from '../connect/definitions.ts'
import type { Grants, Pattern, Preset, RuleVerdict, ServerFacts } from './facts.ts'
import { type Risk, riskOf } from './risk.ts'

export interface Question {
  /** The master switch. */
  readonly enabled: boolean
  /** Undefined: the owner, who may act as anyone. */
  readonly grants: Grants | undefined
  /** Undefined when there is none of that name; a native tool belongs to none. */
  readonly server: ServerFacts | 'native' | undefined
  /** Whether the server is switched on now. */
  readonly available: boolean
  /** A tool's name, `#method` for another request, undefined for the server as such. */
  readonly tool: string | undefined
  /** Whether its server lists it as a tool: then it is judged as one, whatever it is called. */
  readonly listed?: boolean | undefined
  readonly annotations?: Readonly<Record<string, unknown>> | undefined
  /** Whether it only does what may be asked for without it. */
  readonly reads?: boolean | undefined
  /** Whether a person is asked whatever the preset says. */
  readonly asks?: boolean | undefined
  /** Whether it only serves what is decided on by itself: a list of allowed tools need not name it. */
  readonly service?: boolean | undefined
  /** Whether its definition is another than the one that was accepted. */
  readonly changed?: boolean | undefined
  /** What a person said when they were asked about it before. */
  readonly remembered?: Remembered | undefined
}

interface Remembered {
  readonly id: string
  readonly decision: RuleVerdict
  /** Every tool of the server when absent. */
  readonly tool?: string | undefined
}

type DenyCode = 'NO_ACCESS' | 'SERVER_UNAVAILABLE' | 'SERVER_UNKNOWN' | 'TOOL_UNKNOWN' | 'TOOL_CHANGED'

export type Decision =
  | { readonly verdict: 'allow' | 'ask'; readonly risk: Risk; readonly reason: string }
  | {
      readonly verdict: 'deny'
      readonly code: DenyCode
      readonly reason: string
      /** Whether it is about the tool alone; the server may be used. */
      readonly scope: 'server' | 'tool'
    }

/** One step of the reasoning, told only to who listens. */
export interface Step {
  /** What is looked at: `enabled`, `agent`, `server`, `access`, `deny`, `allow`, `offered`, `pin`, `risk`, `remembered`, `approval`. */
  readonly rule: string
  readonly outcome: 'pass' | 'allow' | 'ask' | 'deny'
  readonly detail: string
  /** The part of the configuration that says so. */
  readonly path?: Path | undefined
  /** The pattern there that fits, or the id of what is remembered. */
  readonly pattern?: string | undefined
}

/** Methods of the protocol that only read, or only concern the connection: they follow access to the server. */
const READING =
  /^#(?:(?:tools|resources|resources\/templates|prompts)\/list|resources\/(?:read|subscribe|unsubscribe)|prompts\/get|completion\/complete|server\/discover|subscriptions\/listen|logging\/setLevel|ping|tasks\/(?:get|list|result|update|cancel))$/

/** What stands in the way of a server as a whole. */
const SERVER_RULES: ReadonlySet<string> = new Set(['enabled', 'agent', 'access', 'server'])

export function decide(question: Question, tell?: (step: Step) => void): Decision {
  const { grants, server } = question
  const refuse = (step: Omit<Step, 'outcome'>, code: DenyCode): Decision => {
    tell?.({ ...step, outcome: 'deny' })
    const scope = SERVER_RULES.has(step.rule) ? 'server' : 'tool'
    return { verdict: 'deny', code, reason: step.detail, scope }
  }
  if (!question.enabled)
    return refuse(
      { rule: 'enabled', detail: 'integrations are off', path: ['enabled'] },
      'SERVER_UNAVAILABLE',
    )
  tell?.({ rule: 'enabled', outcome: 'pass', detail: 'integrations are on' })
  const barred = grants && accessStep(grants, question, tell)
  if (barred) return refuse(barred, 'NO_ACCESS')
  if (grants === undefined) tell?.({ rule: 'agent', outcome: 'pass', detail: 'the owner may use everything' })
  if (server === undefined)
    return refuse({ rule: 'server', detail: 'no server has that name' }, 'SERVER_UNKNOWN')
  if (server !== 'native') {
    const absent = serverStep(server, question)
    if (absent) return refuse(absent.step, absent.code)
    tell?.({ rule: 'server', outcome: 'pass', detail: `${server.name} is enabled` })
  }
  if (question.changed)
    return refuse(
      { rule: 'pin', detail: 'its definition changed, and nobody has accepted that yet' },
      'TOOL_CHANGED',
    )
  return approvalOf(question, server, tell, refuse)
}

/** Whether a pattern such as `github/get_*` covers something; one without a slash means a whole server, or a native tool. */
export function covers(
  pattern: string,
  server: string,
  tool: string,
  isMethod: boolean = namesMethod(tool),
): boolean {
  const cut = pattern.indexOf('/')
  if (cut < 0) return matchesGlob(pattern, server === '' ? tool : server)
  if (server === '') return false
  // Rules about tools say nothing about other requests, unless they mean all of the server.
  if (isMethod && !/^(?:\*+$|#)/.test(pattern.slice(cut + 1))) return false
  return matchesGlob(pattern, `${server}/${tool}`)
}

// --- internal ---

type Refusal = Omit<Step, 'outcome'>

function accessStep(
  grants: Grants,
  question: Question,
  tell: ((step: Step) => void) | undefined,
): Refusal | undefined {
  const { server, tool, service } = question
  const { id } = grants
  if (grants.off) return { rule: 'agent', detail: `${id} is disabled`, path: grants.off }
  tell?.({ rule: 'agent', outcome: 'pass', detail: `${id} is enabled` })
  const name = server === 'native' ? '' : (server?.name ?? undefined)
  if (name !== '') {
    if (name === undefined || !grants.servers.has(name))
      return { rule: 'access', detail: `${id} does not have that server`, path: grants.listed }
    tell?.({ rule: 'access', outcome: 'pass', detail: `${id} has ${name}`, path: grants.listed })
  }
  if (tool === undefined) return undefined
  const isMethod = asksMethod(question)
  const denied = matching(grants.deny, name, tool, isMethod)
  if (denied)
    return {
      rule: 'deny',
      detail: `${id} is denied ${denied.text}`,
      path: denied.path,
      pattern: denied.text,
    }
  // A list of tools says nothing about other requests: those follow access to the server.
  if (grants.allow === undefined || isMethod || service) return undefined
  const allowed = matching(grants.allow, name, tool, isMethod)
  if (!allowed)
    return {
      rule: 'allow',
      detail: `${id} is only allowed ${listed(grants.allow)}`,
      path: grants.allow[0]?.path.slice(0, -1) ?? grants.listed,
    }
  tell?.({
    rule: 'allow',
    outcome: 'pass',
    detail: `${id} is allowed ${allowed.text}`,
    path: allowed.path,
    pattern: allowed.text,
  })
  return undefined
}

function serverStep(server: ServerFacts, question: Question): { step: Refusal; code: DenyCode } | undefined {
  const { name } = server
  const { available, tool } = question
  if (!available) {
    const path = ['servers', name, 'enabled']
    return { step: { rule: 'server', detail: `${name} is disabled`, path }, code: 'SERVER_UNAVAILABLE' }
  }
  if (tool === undefined || asksMethod(question)) return undefined
  const excluded = server.exclude.find(({ text }) => matchesGlob(text, tool))
  if (excluded)
    return {
      step: {
        rule: 'offered',
        detail: `${name} does not offer ${excluded.text}`,
        path: excluded.path,
        pattern: excluded.text,
      },
      code: 'TOOL_UNKNOWN',
    }
  if (server.include.some(({ text }) => matchesGlob(text, tool))) return undefined
  const path = ['servers', name, 'tools', 'include']
  const detail = `${name} only offers ${listed(server.include)}`
  return { step: { rule: 'offered', detail, path }, code: 'TOOL_UNKNOWN' }
}

function approvalOf(
  question: Question,
  server: ServerFacts | 'native',
  tell: ((step: Step) => void) | undefined,
  refuse: (step: Refusal, code: DenyCode) => Decision,
): Decision {
  const { grants, tool = '#ping', annotations, remembered, reads, asks: always } = question
  if (reads || (!question.listed && READING.test(tool)))
    return { verdict: 'allow', risk: 'read', reason: 'it only reads' }
  const facts = server === 'native' ? undefined : server
  const { risk, why } = riskOf(tool, annotations, facts ?? VOUCHED)
  tell?.({ rule: 'risk', outcome: 'pass', detail: why })
  const rule = ruleFor(facts, tool)
  if (rule?.verdict === 'deny' && grants)
    return refuse(
      { rule: 'approval', detail: `${rule.text} is denied`, path: rule.path, pattern: rule.text },
      'NO_ACCESS',
    )
  if (grants === undefined) return { verdict: 'allow', risk, reason: 'the owner is not asked' }
  if (remembered) {
    const { decision, id } = remembered
    const what = remembered.tool === undefined ? 'every tool of this server' : 'this tool'
    const step = { rule: 'remembered', detail: `a person said ${decision} for ${what}`, pattern: id }
    if (decision === 'deny') return refuse(step, 'NO_ACCESS')
    tell?.({ ...step, outcome: decision })
    return { verdict: decision, risk, reason: step.detail }
  }
  if (always) {
    const detail = `${tool} always asks`
    tell?.({ rule: 'approval', outcome: 'ask', detail })
    return { verdict: 'ask', risk, reason: detail }
  }
  const preset = typeof facts?.approval === 'string' ? facts.approval : grants.approval
  const at = typeof facts?.approval === 'string' ? ['servers', facts.name, 'approval'] : grants.approvalAt
  const asks = rule ? rule.verdict === 'ask' : asksFor(preset, risk)
  const verdict = asks ? 'ask' : 'allow'
  const reason = rule ? `the rule ${rule.text} says ${rule.verdict}` : `approval is ${preset}, and ${why}`
  tell?.({ rule: 'approval', outcome: verdict, detail: reason, path: rule?.path ?? at, pattern: rule?.text })
  return { verdict, risk, reason }
}

/** Busbar's own tools are told to it by whoever registered them. */
const VOUCHED = { trustAnnotations: true, readOnlyTools: new Set<string>() }

/** Of the rules that fit, the strictest. */
function ruleFor(facts: ServerFacts | undefined, tool: string) {
  if (typeof facts?.approval !== 'object') return undefined
  const fitting = facts.approval.filter(({ text }) => matchesGlob(text, tool))
  return (['deny', 'ask', 'allow'] as const)
    .map((verdict) => fitting.find((rule) => rule.verdict === verdict))
    .find((rule) => rule !== undefined)
}

function asksFor(preset: Preset, risk: Risk): boolean {
  switch (preset) {
    case 'always':
      return true
    case 'writes':
      return risk !== 'read'
    case 'destructive':
      return risk === 'destructive'
    case 'never':
      return false
  }
}

/** Whether it is about another request than a call of a tool. */
function asksMethod({ tool, listed: isTool }: Question): boolean {
  return tool !== undefined && !isTool && namesMethod(tool)
}

function matching(
  patterns: readonly Pattern[],
  server: string,
  tool: string,
  isMethod: boolean,
): Pattern | undefined {
  for (const pattern of patterns) if (covers(pattern.text, server, tool, isMethod)) return pattern
  return undefined
}

function listed(patterns: readonly Pattern[]): string {
  const texts = patterns.map(({ text }) => text)
  if (texts.length === 0) return 'nothing'
  return texts.length > 4 ? `${texts.slice(0, 4).join(', ')} and ${texts.length - 4} more` : texts.join(', ')
}
