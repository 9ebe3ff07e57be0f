// What goes on across restarts, as the store keeps it: jobs and conversations.

export type JobStatus = 'queued' | 'running' | 'paused' | 'done' | 'failed' | 'cancelled'

export interface Job {
  readonly id: string
  readonly kind: string
  /** JSON text. */
  readonly params: string
  /** Higher goes first. */
  readonly priority: number
  readonly status: JobStatus
  /** From 0 to 1. */
  readonly progress: number
  readonly message?: string | undefined
  /** JSON text. */
  readonly result?: string | undefined
  readonly error?: string | undefined
  readonly energy: number
  readonly createdAt: number
  readonly updatedAt: number
}

/** What may change of a job; what is left out stays. */
export type JobChange = Partial<
  Pick<Job, 'status' | 'priority' | 'progress' | 'message' | 'result' | 'error' | 'energy'>
> & { readonly updatedAt: number }

export interface Jobs {
  add(job: Job): Promise<void>
  get(id: string): Promise<Job | undefined>
  /** In the order they would be claimed in. */
  list(status?: JobStatus): Promise<Job[]>
  /** Makes the first queued job (of a kind, when given) the caller's: highest priority, then oldest. */
  claim(now: number, kind?: string): Promise<Job | undefined>
  /** False when the job is not in status `from` (any more). */
  update(id: string, from: JobStatus, change: JobChange): Promise<boolean>
}

export interface Conversation {
  readonly id: string
  readonly agent: string
  readonly title?: string | undefined
  readonly createdAt: number
  readonly updatedAt: number
  /** JSON text. */
  readonly state: string
}

export interface Message {
  readonly conversation: string
  /** From 1, without gaps. */
  readonly seq: number
  readonly role: string
  /** JSON text. */
  readonly content: string
  readonly createdAt: number
}

/** Which conversations; all that is given must hold. */
export interface ConversationFilter {
  readonly agent?: string | undefined
  /** What `status` in its state is; a state that says nothing of it counts as `working`. */
  readonly status?: readonly string[] | undefined
  /** Those that stand behind this one in the list. */
  readonly before?: string | undefined
  readonly limit?: number | undefined
}

export interface Conversations {
  add(conversation: Conversation): Promise<void>
  get(id: string): Promise<Conversation | undefined>
  /** Latest first. */
  list(filter?: ConversationFilter): Promise<Conversation[]>
  update(
    id: string,
    change: { readonly title?: string; readonly state?: string; readonly updatedAt: number },
  ): Promise<boolean>
  /** With its messages. */
  remove(id: string): Promise<boolean>
  /**
   * Adds a message at the end and tells its `seq`; undefined when there is no such conversation. It survives a power cut;
   * with `lasting: false`, which waits for no disk, only the end of this process, until something lasting follows.
   */
  say(
    id: string,
    message: Omit<Message, 'conversation' | 'seq'>,
    options?: { readonly lasting?: boolean },
  ): Promise<number | undefined>
  /** In order; `after` a `seq`, for what came since. */
  messages(id: string, filter?: { readonly after?: number; readonly limit?: number }): Promise<Message[]>
}
