// What is kept of every call, and the questions that are asked about it.

export type Outcome = 'ok' | 'error' | 'denied' | 'timeout' | 'cancelled' | 'unknown'

export interface Invocation {
  /** Unique; a second row of the same id is not taken. */
  readonly id: string
  /** `cto`, `cto/reviewer`, or empty for the owner. */
  readonly agent: string
  /** Empty for native tools. */
  readonly server: string
  /** A tool's name, or `#method` for other requests. */
  readonly tool: string
  /** Where the call came in: library, gateway, cli, agent. */
  readonly surface: string
  readonly conversation?: string | undefined
  /** Epoch milliseconds. */
  readonly startedAt: number
  /** Milliseconds, may be fractional. */
  readonly duration: number
  readonly outcome: Outcome
  /** The fault's code. */
  readonly code?: string | undefined
  /** Scrubbed by the caller, as are `arguments` and `result`. */
  readonly error?: string | undefined
  /** The error with what differs from call to call taken out. */
  readonly pattern?: string | undefined
  readonly energy?: number | undefined
  readonly requestBytes: number
  readonly resultBytes: number
  readonly arguments?: string | undefined
  readonly result?: string | undefined
}

/** A row of the store; `seq` grows by one from row to row. */
export type RecordedInvocation = Invocation & { readonly seq: number }

export interface InvocationFilter {
  readonly since?: number | undefined
  readonly agent?: string | undefined
  readonly server?: string | undefined
  readonly tool?: string | undefined
  readonly outcome?: Outcome | undefined
  readonly conversation?: string | undefined
  /** 100 when not given. */
  readonly limit?: number | undefined
  /** Only rows before this `seq`, for the next page. */
  readonly before?: number | undefined
}

export interface UsageFilter {
  readonly since?: number | undefined
  readonly by: 'agent' | 'server' | 'tool'
}

export interface Usage {
  /** An agent, a server, or `server/tool`. */
  readonly key: string
  readonly calls: number
  /** Every outcome but ok. */
  readonly errors: number
  readonly energy: number
  readonly p50: number
  readonly p95: number
  readonly lastUsed: number
}

export interface PatternFilter {
  readonly since?: number | undefined
  readonly server?: string | undefined
}

export interface ErrorPattern {
  readonly server: string
  readonly tool: string
  readonly pattern: string
  readonly count: number
  readonly lastSeen: number
  /** The latest error of this pattern. */
  readonly example: string
}

/** Whether every row is as it was written; `seq` names the first that is not. */
export type Verification =
  | { readonly ok: true; readonly rows: number }
  | { readonly ok: false; readonly rows: number; readonly seq: number; readonly problem: string }

export interface Invocations {
  /**
   * One transaction; rows whose id is there already are skipped. It also charges what the new ones cost to their agents'
   * accounts of energy, and to the leases of `owner`, the process whose calls they were.
   */
  append(rows: readonly Invocation[], owner?: string): Promise<void>
  /** Newest first. */
  list(filter: InvocationFilter): Promise<RecordedInvocation[]>
  /** Busiest first. */
  usage(filter: UsageFilter): Promise<Usage[]>
  /** Most frequent first. */
  patterns(filter: PatternFilter): Promise<ErrorPattern[]>
  verify(): Promise<Verification>
  /**
   * Removes the oldest rows up to the first that started at `before` or later, and tells how many. What is left
   * can still be verified.
   */
  prune(before: number): Promise<number>
}

export interface ServerTotals {
  readonly server: string
  readonly addedAt: number
  readonly useCount: number
  readonly errorCount: number
  readonly lastUsed?: number | undefined
  readonly lastError?: string | undefined
  readonly lastErrorAt?: number | undefined
  readonly energy: number
  /** The sum of all calls, in milliseconds. */
  readonly duration: number
}

export interface Servers {
  /** Remembers when each was first seen. */
  noteServers(names: readonly string[], now: number): Promise<void>
  /** By name. What pruning removed still counts. */
  totals(): Promise<ServerTotals[]>
}
