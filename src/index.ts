// The library. So far: reading, explaining and watching configuration; the hub follows.

export { type Code, CODES, Fault } from './base/fault.ts'
export type { Environment, Places } from './base/places.ts'
export { diffServers, type ServerDiff } from './config/diff.ts'
export { errorsOf, loadConfig, type LoadOptions, type ServerEntry, type Snapshot } from './config/load.ts'
export { type Problem, problemLine } from './config/problem.ts'
export type { Assignment } from './config/resolve.ts'
export { type Config, jsonSchema } from './config/schema.ts'
export type { Agent, Worker } from './config/schema-agent.ts'
export type { Server, ServerInput, Transport } from './config/schema-server.ts'
export { missingOf, reportServer, type ServerReport, type Status } from './config/status.ts'
export { type Subject, trustSubjects } from './config/trust.ts'
export { type ConfigEvent, type ConfigWatch, watchConfig } from './config/watch.ts'
