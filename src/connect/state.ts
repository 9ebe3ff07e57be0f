// The states of a connection. Each carries only what is true in it.

import { Fault } from '../base/fault.ts'
import type { Status } from '../config/status.ts'
import type { Link } from './link.ts'
import { INTEGRATIONS_OFF, type Plan } from './plan.ts'

export type State =
  /** Known, perhaps from its last run, and not started. */
  | { readonly kind: 'idle' }
  | { readonly kind: 'starting' }
  | { readonly kind: 'connected'; readonly link: Link; readonly since: number }
  /** Connected, and silent when asked: its tools are not offered. */
  | { readonly kind: 'unwell'; readonly link: Link; readonly since: number; readonly error: Fault }
  | { readonly kind: 'waiting'; readonly error: Fault; readonly until: number }
  /** `token`: the one it was refused with; another one is a reason to try again. */
  | { readonly kind: 'needs-auth'; readonly error: Fault; readonly token: unknown }
  /** Cannot be used as it is configured. */
  | { readonly kind: 'unusable'; readonly error: Fault }
  | { readonly kind: 'disabled'; readonly reason?: string | undefined }
  /** `withAll`: because everything stops. */
  | { readonly kind: 'closed'; readonly withAll: boolean }

/** Why something is stopped that is started again at once. */
export const RESTART = 'restart'

/** The word for people. */
export function wordFor({ kind }: State): Status {
  switch (kind) {
    case 'idle':
    case 'starting':
      return 'pending'
    case 'connected':
      return 'connected'
    case 'unwell':
    case 'waiting':
    case 'unusable':
      return 'failed'
    case 'needs-auth':
      return 'needs-auth'
    case 'disabled':
    case 'closed':
      return 'disabled'
  }
}

/** The live connection of a state, if it has one. */
export function linkOf(state: State): Link | undefined {
  return state.kind === 'connected' || state.kind === 'unwell' ? state.link : undefined
}

/** Whether its tools may be offered; while it is down, only those of a server that calls start. */
export function isOffered({ kind }: State, eager: boolean): boolean {
  if (kind === 'waiting') return !eager
  return kind === 'connected' || kind === 'idle' || kind === 'starting'
}

/** Whether trying again within seconds is of no use. */
export function isHopeless({ code }: Fault): boolean {
  return code === 'SPAWN_FAILED' || code === 'SANDBOX_ABSENT' || code === 'ADDRESS_REFUSED'
}

/** Whether a start may have failed because the server speaks another era than the last time. */
export function isDoubtful({ code }: Fault): boolean {
  return (
    code === 'CONNECT_TIMEOUT' ||
    code === 'CONNECTION_LOST' ||
    code === 'MESSAGE_INVALID' ||
    code === 'SERVER_UNREACHABLE'
  )
}

/** Another value when there is another token to sign with. */
export function tokenOf({ accounts, account }: Plan): unknown {
  return accounts.version(account)
}

export function faultOf(error: unknown, server: string): Fault {
  if (error instanceof Fault) return error
  const message = error instanceof Error ? error.message : String(error)
  return new Fault('SERVER_UNREACHABLE', `${server}: ${message}`, { server, cause: error })
}

/** Why it is not worth a try now; undefined where it is. `token`: what it would sign in with, `isOpen`: it failed too often. */
export function refusalIn(state: State, token: unknown, isOpen: boolean): Fault | undefined {
  switch (state.kind) {
    case 'unwell':
    case 'unusable':
      return state.error
    case 'needs-auth':
      return state.token === token ? state.error : undefined
    case 'waiting':
      return isOpen && Date.now() < state.until ? state.error : undefined
    case 'idle':
    case 'starting':
    case 'connected':
    case 'disabled':
    case 'closed':
      return undefined
  }
}

/** Why nothing of a server may be used. */
export function offFault(server: string, state: State, hidden: boolean): Fault {
  if (state.kind === 'closed' && state.withAll)
    return new Fault('SERVER_UNAVAILABLE', `Busbar is stopping, and ${server} with it`, {
      hint: 'try again when it runs again',
      details: { stopping: true },
      server,
    })
  const off = state.kind === 'disabled' && state.reason === INTEGRATIONS_OFF
  const disabled = hidden || state.kind === 'disabled'
  const why = disabled ? 'is disabled' : state.kind === 'closed' ? 'was removed or changed' : 'was stopped'
  const hint = disabled ? `run: busbar enable ${server}` : 'try again'
  return new Fault('SERVER_UNAVAILABLE', off ? INTEGRATIONS_OFF : `${server} ${why}`, {
    hint: off ? 'set enabled: true' : hint,
    server,
  })
}
