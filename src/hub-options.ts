// What a hub is given, and what it tells.

import type { ConversationEvent } from './agent/events.ts'
import type { Hooks } from './agent/loop.ts'
import type { Models } from './agent/model.ts'
import type { Environment } from './base/places.ts'
import type { Surface } from './call/context.ts'
import type { Handlers } from './connect/answers.ts'
import type { OnSignIn } from './connect/auth/account.ts'
import type { HubConfig } from './connect/instances.ts'
import type { ManagerEvent } from './connect/manager.ts'
import type { Reaped } from './connect/process/ledger.ts'
import type { EnergyChange } from './policy/energy.ts'
import type { PinChange } from './policy/pins.ts'
import type { Approval } from './store/policy.ts'

export interface HubOptions extends Handlers {
  /** A file, or the configuration itself; default: the files that `busbar` finds. */
  readonly config?: string | HubConfig | undefined
  /** Where state is kept, instead of the person's own folders. */
  readonly home?: string | undefined
  readonly cwd?: string | undefined
  readonly env?: Environment | undefined
  /** Accepts the content of the files as it is now, as `busbar --trust` does. */
  readonly trust?: boolean | undefined
  /**
   * Starts with what is sound, as `busbar up` does, and tells the rest as `trouble`; default: any error of the configuration
   * is thrown. What may have limited somebody is thrown all the same.
   */
  readonly tolerant?: boolean | undefined
  /** Whether servers start now; default: yes. `later`: when `servers.connectAll` is called. */
  readonly start?: boolean | 'later' | undefined
  /** Where calls are recorded: the configured store (default), or nowhere. */
  readonly store?: 'none' | undefined
  /** @internal By which door calls come in. */
  readonly surface?: Surface | undefined
  /**
   * A server wants a person to sign in: show them the address. Without this such a server waits with the status
   * `needs-auth` until somebody runs `busbar login` or calls `servers.login`.
   */
  readonly onSignIn?: OnSignIn | undefined
  /** The models of the built-in agent; default: as the configuration and the environment say. */
  readonly models?: Models | undefined
  /** What stands before and after every tool call of the built-in agent. */
  readonly hooks?: Hooks | undefined
  /** Told from the first moment on; `on` can be used later. */
  readonly onEvent?: ((event: HubEvent) => void) | undefined
}

/** Another configuration, or how it is made from the one that is followed; undefined: the same, read again. */
export type Next = string | HubConfig | undefined | ((config: HubOptions['config']) => HubConfig)

export type HubEvent =
  | ManagerEvent
  /** Servers that a killed run had left behind, and that are gone now. */
  | { readonly type: 'reaped'; readonly processes: readonly Reaped[] }
  /** Something a person should know that stops nothing. */
  | { readonly type: 'trouble'; readonly message: string }
  /** An agent has more or less energy than before. */
  | ({ readonly type: 'energy' } & EnergyChange)
  /** A person is asked, or what became of it. */
  | { readonly type: 'approval'; readonly approval: Approval }
  /** A tool's definition, or a server's instructions, differs from the accepted one, or no longer does. */
  | ({ readonly type: 'pin-change' } & PinChange)
  /** Something happened in a conversation with the built-in agent. */
  | ConversationEvent
  | { readonly type: 'closed' }
