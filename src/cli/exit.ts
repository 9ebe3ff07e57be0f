// What a command's end means to a script.

import type { Code, Fault } from '../base/fault.ts'

export const EXIT = {
  ok: 0,
  /** The command line or the configuration is wrong. */
  usage: 1,
  /** A bug in Busbar. */
  internal: 2,
  signIn: 3,
  unreachable: 4,
  toolError: 5,
  denied: 6,
  approvalPending: 7,
  outOfEnergy: 8,
  hungUp: 129,
  interrupted: 130,
  terminated: 143,
} as const

/** The exit code for a fault. What is not listed is about the command line or the configuration. */
export function exitOf({ code, server }: Fault): number {
  // A call that is refused names its server; a person who answers "no" to `busbar trust` is refused nothing.
  if (code === 'NOT_TRUSTED' && server === undefined) return EXIT.usage
  return CODES[code] ?? EXIT.usage
}

// --- internal ---

const CODES: Readonly<Partial<Record<Code, number>>> = {
  AUTH_REQUIRED: EXIT.signIn,
  SERVER_UNREACHABLE: EXIT.unreachable,
  CONNECT_TIMEOUT: EXIT.unreachable,
  CONNECTION_LOST: EXIT.unreachable,
  SPAWN_FAILED: EXIT.unreachable,
  SANDBOX_ABSENT: EXIT.unreachable,
  ADDRESS_REFUSED: EXIT.unreachable,
  SERVER_BUSY: EXIT.unreachable,
  SERVER_UNAVAILABLE: EXIT.unreachable,
  CALL_TIMEOUT: EXIT.unreachable,
  GATEWAY_ABSENT: EXIT.unreachable,
  GATEWAY_BUSY: EXIT.unreachable,
  MODEL_UNAVAILABLE: EXIT.unreachable,
  TOOL_FAILED: EXIT.toolError,
  SERVER_ERROR: EXIT.toolError,
  MESSAGE_TOO_LARGE: EXIT.toolError,
  MESSAGE_INVALID: EXIT.toolError,
  NOT_SUPPORTED: EXIT.toolError,
  NO_ACCESS: EXIT.denied,
  TOOL_CHANGED: EXIT.denied,
  NOT_TRUSTED: EXIT.denied,
  APPROVAL_DENIED: EXIT.denied,
  APPROVAL_PENDING: EXIT.approvalPending,
  APPROVALS_FULL: EXIT.denied,
  LOOP_STOPPED: EXIT.denied,
  OUT_OF_ENERGY: EXIT.outOfEnergy,
  CALL_CANCELLED: EXIT.interrupted,
}
