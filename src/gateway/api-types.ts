// What `/api/*` is asked and what it answers. The handlers and the command line use these types themselves.

import type { Code } from '../base/fault.ts'
import type { ApprovalView } from '../call/approval-view.ts'
import type { AgentTool, ProjectedTools } from '../call/handle.ts'
import type { Listed } from '../call/request.ts'
import type { ToolResult } from '../call/result.ts'
import type { Agent } from '../config/schema-agent.ts'
import type { Logout } from '../connect/login.ts'
import type { ServerStatus } from '../connect/status.ts'
import type { HubEvent } from '../hub.ts'
import type { ConversationView, WholeConversation } from '../hub-conversations.ts'
import type { AgentEnergy, AgentHistory } from '../policy/energy-report.ts'
import type { Explanation } from '../policy/explain.ts'
import type { Preset } from '../policy/facts.ts'
import type { PinDiff, ShownPin } from '../policy/pin-shown.ts'
import type { EndedCall } from '../record/ended.ts'
import type { NamingScheme } from '../registry/names.ts'
import type {
  ErrorPattern,
  RecordedInvocation,
  ServerTotals,
  Usage,
  Verification,
} from '../store/invocation.ts'
import type { ApprovalStatistics, Rule } from '../store/policy.ts'
import type { SignInAnswer, SignInBody } from './api-sign-in.ts'
import type { NewToken, ShownToken } from './tokens.ts'

/** Every refusal, with a status of 400, 401, 403, 404, 409, 429, 503 or 504. */
export interface ApiFault {
  readonly code: Code
  readonly message: string
  readonly hint?: string | undefined
  readonly server?: string | undefined
  /** The question that a person has to answer first. */
  readonly approval?: string | undefined
  readonly details?: Readonly<Record<string, unknown>> | undefined
}

/** A server that a list is about, and whether it could be asked. */
export type ListedServer =
  | {
      readonly name: string
      readonly state: 'up'
      /** How many of its tools are offered, and whether its entry leaves some out. */
      readonly tools: number
      readonly filtered: boolean
      /** What else it says that it has. */
      readonly offers: readonly string[]
      readonly errors: readonly string[]
    }
  /** Not up, and not needed by anybody so far; `known`: its tools are known from an earlier run. */
  | { readonly name: string; readonly state: 'idle' | 'starting'; readonly known: boolean }
  | { readonly name: string; readonly state: 'failed'; readonly fault: ApiFault }
  | {
      readonly name: string
      readonly state: 'off'
      readonly why: 'disabled' | 'untrusted' | 'incomplete'
      readonly fault: ApiFault
    }

export interface ToolsAnswer {
  readonly tools: readonly AgentTool[]
  readonly servers: readonly ListedServer[]
  /** Why there are none at all. */
  readonly reason?: string
  /** With `format`: as a model's provider wants them. */
  readonly projected?: ProjectedTools
}

export interface ThingsAnswer {
  readonly servers: readonly ListedServer[]
  /** Of servers that are up and could not list. */
  readonly failures: readonly ApiFault[]
}

export type ResourcesAnswer = ThingsAnswer & { readonly resources: readonly Listed[] }
export type TemplatesAnswer = ThingsAnswer & { readonly resourceTemplates: readonly Listed[] }
export type PromptsAnswer = ThingsAnswer & { readonly prompts: readonly Listed[] }

export interface CheckedServer {
  readonly name: string
  /** Whether it is up, or was tried; else `fault` says why not, or it starts only when it is needed. */
  readonly tried: boolean
  readonly status: ServerStatus
  readonly fault?: ApiFault | undefined
  /** Milliseconds until it was up or had failed, when it was started for this. */
  readonly ms?: number | undefined
}

export interface ReadRequest {
  readonly agent?: string | undefined
  readonly server: string
  readonly uri: string
}

export interface PromptRequest {
  readonly agent?: string | undefined
  readonly server: string
  readonly name: string
  readonly arguments?: Readonly<Record<string, string>> | undefined
}

export interface ToolCallRequest {
  readonly agent?: string | undefined
  /** May be left out where `tool` is `server/tool`, a native tool's name, or a name that a model knows. */
  readonly server?: string | undefined
  readonly tool: string
  readonly arguments?: Readonly<Record<string, unknown>> | undefined
  readonly conversation?: string | undefined
  /** Milliseconds without progress. */
  readonly timeout?: number | undefined
  /** Milliseconds to wait for a person where one is asked first. */
  readonly approvalWait?: number | undefined
}

interface WorkerView {
  readonly name: string
  readonly enabled: boolean
  readonly model: string | null
  /** What it may use, with the default ones where it has no list of its own. */
  readonly servers: readonly string[]
  readonly from: 'own' | 'defaults'
  /** Whether it can sign in at the gateway. The token itself is told to nobody. */
  readonly hasToken: boolean
}

export interface AgentView extends WorkerView {
  readonly approval: Preset
  readonly naming: NamingScheme
  readonly surface: Agent['surface']
  readonly energy: AgentEnergy
  /** Named `agent/worker`. */
  readonly workers: readonly WorkerView[]
}

/** The same as `busbar explain --json`. */
export interface ExplainAnswer extends Explanation {
  readonly agent: string
  readonly address: string
  /** Whether the server was ever up, so that it is known what its tools are said to do. */
  readonly known: boolean
}

/** What an agent may use; what it may not is not in it. */
export interface AccessAnswer {
  readonly agent: string
  readonly servers: readonly string[]
  readonly tools: readonly {
    readonly address: string
    readonly verdict: 'allow' | 'ask'
    readonly reason: string
    readonly risk: string
  }[]
  /** Why there are no tools. */
  readonly reason?: string
}

export interface ApprovalAnswer {
  readonly decision: 'allow' | 'deny'
  readonly remember?: 'tool' | 'server' | undefined
  /** Who answers; default: owner. */
  readonly by?: string | undefined
}

/** An event of `GET /api/events`: its type, and with it the data. After a `reset` with nothing, events were missed. */
export type ApiEvent =
  | { readonly type: 'server-status'; readonly server: string; readonly status: EventStatus }
  | { readonly type: 'approval'; readonly approval: ApprovalView }
  | ({ readonly type: 'call' } & EndedCall)
  | Exclude<HubEvent, { type: 'server-status' | 'approval' | 'notification' | 'instance-status' | 'closed' }>

/** A server's status without what is long; `tools` is how many. */
type EventStatus = Omit<ServerStatus, 'tools' | 'config' | 'instructions'> & {
  readonly tools: number
}

/** How the configuration that a gateway follows stands, after it looked at its files. */
export interface Standing {
  /** What it looks at; a change of any other file does not concern it. */
  readonly files: readonly string[]
  /** Why the files are not in force as they are; empty when they are. */
  readonly refused: readonly string[]
  /** What in them is not in force because nobody has trusted it. */
  readonly untrusted: readonly {
    readonly kind: 'server' | 'settings'
    readonly name: string
    readonly file: string
    /** Nothing of it was ever trusted, so nothing of it is in force. */
    readonly isNew: boolean
  }[]
}

/** Each route with what it is sent and what it answers. Names in capitals stand for a part of the path. */
export interface Api {
  'GET /api/status': { answer: { version: string; config: string; url: string } }
  'POST /api/config/look': { answer: Standing }
  'GET /api/servers': { answer: { servers: readonly ServerStatus[] } }
  'GET /api/servers/check': { answer: { servers: readonly CheckedServer[] } }
  'POST /api/servers/NAME/ACTION': {
    body: { visible?: boolean } | undefined
    answer: { server: ServerStatus }
  }
  'POST /api/servers/NAME/login': { body: SignInBody | undefined; answer: SignInAnswer }
  'POST /api/servers/NAME/logout': { body: { account?: string } | undefined; answer: Logout }
  'GET /api/tools': { answer: ToolsAnswer }
  'POST /api/tools/call': { body: ToolCallRequest; answer: ToolResult }
  'GET /api/resources': { answer: ResourcesAnswer }
  'GET /api/resources/templates': { answer: TemplatesAnswer }
  'GET /api/prompts': { answer: PromptsAnswer }
  'POST /api/read': { body: ReadRequest; answer: Record<string, unknown> }
  'POST /api/prompts/get': { body: PromptRequest; answer: Record<string, unknown> }
  'GET /api/calls': { answer: { calls: readonly RecordedInvocation[] } }
  'GET /api/usage': {
    answer: {
      rows: readonly Usage[]
      patterns: readonly ErrorPattern[]
      approvals: ApprovalStatistics
    }
  }
  'GET /api/usage/verify': { answer: Verification }
  'GET /api/usage/totals': { answer: { servers: readonly ServerTotals[] } }
  'GET /api/energy': { answer: { agents: readonly AgentEnergy[] } }
  'GET /api/energy/AGENT': { answer: { agents: readonly AgentHistory[] } }
  'POST /api/energy/AGENT/refill': {
    body: { amount?: number } | undefined
    answer: { agents: readonly AgentEnergy[] }
  }
  'GET /api/approvals': { answer: { approvals: readonly ApprovalView[] } }
  'GET /api/approvals/ID': { answer: { approval: ApprovalView } }
  'POST /api/approvals/ID': { body: ApprovalAnswer; answer: { approval: ApprovalView } }
  'GET /api/approvals/rules': { answer: { rules: readonly Rule[] } }
  'DELETE /api/approvals/ID': { answer: { approval: ApprovalView } }
  'DELETE /api/approvals/rules/ID': { answer: { rule: Rule } }
  'GET /api/approvals/statistics': { answer: { statistics: ApprovalStatistics } }
  'GET /api/pins': { answer: { pins: readonly ShownPin[] } }
  'GET /api/pins/diff': { answer: PinDiff }
  'POST /api/pins/accept': {
    body: { server: string; tool: string; fingerprint: string }
    answer: { pin: ShownPin }
  }
  'GET /api/agents': { answer: { agents: readonly AgentView[] } }
  'GET /api/agents/AGENT/token': { answer: { agent: string; tokens: readonly ShownToken[] } }
  'POST /api/agents/AGENT/token': { answer: NewToken }
  'DELETE /api/agents/AGENT/token': { answer: { agent: string; revoked: number } }
  'GET /api/access': { answer: ExplainAnswer | AccessAnswer }
  /** `next`: what to give as `before` to get those behind them, when there are some. */
  'GET /api/conversations': { answer: { conversations: readonly ConversationView[]; next?: string } }
  'POST /api/conversations': {
    body: { agent?: string } | undefined
    answer: { id: string; agent: string }
  }
  'GET /api/conversations/ID': { answer: { conversation: WholeConversation } }
  'POST /api/conversations/ID/messages': {
    body: { text: string; urgency?: 'asked' | 'urgent' }
    answer: { seq: number }
  }
  'POST /api/conversations/ID/stop': { answer: { stopped: boolean } }
  'DELETE /api/conversations/ID': { answer: { id: string; forgotten: boolean } }
}

/** What a route answers. */
export type Answer<Route extends keyof Api> = Api[Route]['answer']
