// What the path of a call needs to know of the hub.

import type { Snapshot } from '../config/snapshot.ts'
import type { Handlers } from '../connect/answers.ts'
import type { Manager } from '../connect/manager.ts'
import type { Rulebook } from '../policy/facts.ts'
import type { Records } from '../record/records.ts'
import type { Tracing } from '../record/trace.ts'
import type { Registry } from '../registry/registry.ts'
import type { Brakes } from './brakes.ts'
import type { Spill } from './spill.ts'
import type { Validators } from './validate.ts'
import type { Views } from './view.ts'

/** By which door a request came in. */
export type Surface = 'library' | 'cli' | 'gateway' | 'api' | 'agent'

export interface CallContext {
  readonly manager: Manager
  readonly registry: Registry
  readonly handlers: Handlers
  readonly validators: Validators
  readonly views: Views
  readonly spill: Spill
  rules(): Rulebook
  /** The configuration that is acted on. */
  active(): Snapshot
  /** Undefined where the owner of the hub wants no record. */
  recording(): Records | undefined
  tracing(): Tracing | undefined
  /** What may stop a call that access allows; undefined until the hub has started. */
  brakes(): Brakes | undefined
  /** Tells a person what stops no call. */
  trouble(message: string): void
}
