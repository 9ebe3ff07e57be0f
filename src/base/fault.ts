// The one error class. A fault is something a person can act on; plain errors are bugs and reach the edge untouched.

/** Every code a fault can carry, with what it means. Docs and exit codes are derived from this table. */
export const CODES = {
  USAGE: 'the command line was not understood',
  CONFIG_INVALID: 'a configuration file has problems',
  CONFIG_UNREADABLE: 'a configuration file could not be read',
  CONFIG_EDIT: 'a configuration file could not be changed safely',
  CONFIG_LOCKED: 'another process kept a file locked for too long',
  SERVER_UNKNOWN: 'no server has that name',
  SERVER_EXISTS: 'a server has that name already',
  AGENT_UNKNOWN: 'no agent has that name',
  AGENT_EXISTS: 'an agent has that name already',
  NOT_TRUSTED: 'the content has not been trusted by a person',
  STATE_REFUSED: 'the state folder is not safe to use',
  STORE_UNAVAILABLE: 'the store cannot be read or written at present',
  STORE_NEWER: 'the store was written by a newer version',
  STORE_DAMAGED: 'the store holds what it should not',
  SECRETS_LOCKED: 'the kept secrets cannot be opened with the key that is there',
  SECRET_DAMAGED: 'a kept secret was damaged or changed by somebody else, and is not used',
  SECRET_UNKNOWN: 'no secret of that name is kept',
  SPAWN_FAILED: 'a server could not be started',
  SANDBOX_ABSENT: 'a server asks for a sandbox that this machine cannot give',
  ADDRESS_REFUSED: 'an address is not one a server may be reached at',
  SERVER_UNREACHABLE: 'a server cannot be reached',
  SERVER_UNAVAILABLE: 'a server is switched off or has no definition that may be used',
  SERVER_BUSY: 'a server has too many calls waiting',
  AUTH_REQUIRED: 'a server wants a person to sign in',
  SIGN_IN_FAILED: 'signing in to a server did not work: it was refused, given up, or not safe',
  CONNECT_TIMEOUT: 'a server did not answer in time when it was started',
  CONNECTION_LOST: 'a connection ended while a call was under way: its outcome is unknown',
  CALL_TIMEOUT: 'a call took too long and was cancelled',
  CALL_CANCELLED: 'a call was cancelled',
  MESSAGE_TOO_LARGE: 'a message is larger than the limit',
  MESSAGE_INVALID: 'a message is not what the protocol allows',
  SERVER_ERROR: 'a server answered with a protocol error',
  NOT_SUPPORTED: 'a server does not offer what was asked for',
  TOOL_EXISTS: 'a tool has that name already',
  ARGUMENTS_INVALID: 'the arguments do not fit the tool',
  TOOL_UNKNOWN: 'a server has no tool of that name',
  TOOL_FAILED: 'a tool answered that it failed',
  NO_ACCESS: 'the agent may not use that server or tool',
  APPROVAL_PENDING: 'a person is asked, and has not answered yet',
  APPROVAL_DENIED: 'a person said no',
  APPROVAL_UNKNOWN: 'no approval has that id, or it was answered already',
  APPROVALS_FULL: 'the agent has too many questions open, so a person is not asked another one',
  TOOL_CHANGED: 'the definition of a tool changed, and waits for a person to accept it',
  MODEL_UNAVAILABLE: 'a model does not answer, or has too much to do',
  MODEL_OVERFLOW: 'a conversation is too long for the model',
  MODEL_REFUSED: 'a model refuses: its key, its name or the request is wrong',
  CONVERSATION_UNKNOWN: 'no conversation has that id',
  OUT_OF_ENERGY: 'the agent has too little energy left for the call',
  LOOP_STOPPED: 'the agent has made the same failing call too often',
  INTERNAL: 'a bug in Busbar; please report it',
  CLOSED: 'the hub was closed',
  GATEWAY_ABSENT: 'no gateway is running',
  GATEWAY_LIMIT: 'a client asks for more than the limits of the gateway allow',
  REQUEST_STATE_INVALID: 'a client came back with something that was not given to it, or not for this',
  GATEWAY_BUSY: 'the gateway cannot listen there',
} as const

export type Code = keyof typeof CODES

interface FaultOptions {
  /** What to do next, ideally a command. */
  hint?: string | undefined
  /** The server the fault is about. */
  server?: string | undefined
  /** Further machine-readable detail for `--json`. */
  details?: Record<string, unknown> | undefined
  cause?: unknown
}

export class Fault extends Error {
  override readonly name = 'Fault'
  readonly code: Code
  readonly hint: string | undefined
  readonly server: string | undefined
  readonly details: Record<string, unknown> | undefined

  constructor(code: Code, message: string, options: FaultOptions = {}) {
    super(message, { cause: options.cause })
    this.code = code
    this.hint = options.hint
    this.server = options.server
    this.details = options.details
  }
}
