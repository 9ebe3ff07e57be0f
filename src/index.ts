// The library: the hub, and reading, explaining and watching configuration.

export type {
  ConversationStatus,
  ConversationView,
  PostOptions,
  WholeConversation,
} from './agent/conversation.ts'
export type { Entry, Turn } from './agent/entries.ts'
export type { ConversationEvent } from './agent/events.ts'
export type { Hooks, TurnReason } from './agent/loop.ts'
export type {
  EndReason,
  Model,
  ModelEvent,
  ModelMessage,
  ModelRequest,
  Models,
  Tokens,
  ToolOffer,
  ToolOutcome,
  ToolUse,
} from './agent/model.ts'
export { CODES, type Code, Fault } from './base/fault.ts'
export type { Environment, Places } from './base/places.ts'
export { JsonText } from './call/argument-text.ts'
export type { CallOptions, Progress } from './call/call.ts'
export type {
  AgentHandle,
  AgentTool,
  FoundTool,
  ProjectedTools,
  ProjectOptions,
  Readiness,
  ServerClient,
} from './call/handle.ts'
export type { Listed, RequestOptions } from './call/request.ts'
export type { CallResult, ToolResult } from './call/result.ts'
export { CATALOG, type CatalogEntry } from './config/catalog.ts'
export { diffServers, type ServerDiff } from './config/diff.ts'
export { effective } from './config/effective.ts'
export { errorsOf, type LoadOptions, loadConfig } from './config/load.ts'
export { type Problem, problemLine } from './config/problem.ts'
export type { Assignment } from './config/resolve.ts'
export type { Config } from './config/schema.ts'
export type { Agent, Worker } from './config/schema-agent.ts'
export { jsonSchema } from './config/schema-json.ts'
export type { Server, ServerInput, Transport } from './config/schema-server.ts'
export type { ServerEntry, Snapshot } from './config/snapshot.ts'
export { missingOf, reportServer, resolveServer, type ServerReport, type Status } from './config/status.ts'
export { type Subject, trustSubjects } from './config/trust.ts'
export { type ConfigEvent, type ConfigWatch, watchConfig } from './config/watch.ts'
export type {
  ElicitationAnswer,
  ElicitationRequest,
  Handlers,
  Root,
  SamplingRequest,
} from './connect/answers.ts'
export type { OnSignIn, SignInRequest } from './connect/auth/account.ts'
export type { Tool } from './connect/definitions.ts'
export type { InProcessServer } from './connect/in-process.ts'
export type { HubConfig, HubServer, ListedHubServer } from './connect/instances.ts'
export type { Login, LoginOptions, Logout } from './connect/login.ts'
export type { Applied } from './connect/manager.ts'
export type { ServerStatus, ToolSummary } from './connect/status.ts'
export type { SignInAnswer, SignInBody } from './gateway/api-sign-in.ts'
export type {
  AccessAnswer,
  AgentView,
  Answer as ApiAnswer,
  Api,
  ApiEvent,
  ApiFault,
  ApprovalAnswer,
  CheckedServer,
  ExplainAnswer,
  ListedServer,
  PromptRequest,
  PromptsAnswer,
  ReadRequest,
  ResourcesAnswer,
  TemplatesAnswer,
  ToolCallRequest,
  ToolsAnswer,
} from './gateway/api-types.ts'
export { createHub, type Hub, type HubEvent, type HubOptions } from './hub.ts'
export type { EndedCall } from './record/ended.ts'
export type { ToolFormat } from './registry/formats/project.ts'
export type { NamingScheme } from './registry/names.ts'
export type { NativeCall, NativeTool } from './registry/native.ts'
export type {
  ErrorPattern,
  Invocation,
  InvocationFilter,
  Invocations,
  Outcome,
  Usage,
  Verification,
} from './store/invocation.ts'
