// What the agent asks of a model, whoever runs it. Small on purpose: energy, approvals and conversations are the loop's own
// affair, and a provider is a function from a request to events.

/** A tool as a model is told of it. */
export interface ToolOffer {
  readonly name: string
  readonly description: string
  /** JSON Schema, projected for the model's provider. */
  readonly inputSchema: Readonly<Record<string, unknown>>
}

/** A model wants a tool called. */
export interface ToolUse {
  /** Tells it apart within the conversation. */
  readonly id: string
  readonly name: string
  /** JSON text as the model wrote it, which may be broken. */
  readonly arguments: string
}

/** What came of it. */
export interface ToolOutcome {
  readonly id: string
  readonly name: string
  readonly text: string
  readonly isError: boolean
}

export type ModelMessage =
  | { readonly role: 'user'; readonly text: string }
  | { readonly role: 'assistant'; readonly text: string; readonly uses: readonly ToolUse[] }
  | { readonly role: 'tools'; readonly outcomes: readonly ToolOutcome[] }

export interface ModelRequest {
  readonly system: string
  readonly messages: readonly ModelMessage[]
  readonly tools: readonly ToolOffer[]
  /** Most it may answer. */
  readonly maxTokens: number
  readonly signal: AbortSignal
}

export interface Tokens {
  readonly input: number
  readonly output: number
}

export type ModelEvent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly text: string }
  | { readonly type: 'use'; readonly use: ToolUse }
  /** Always the last. */
  | { readonly type: 'end'; readonly reason: EndReason; readonly tokens: Tokens }

/** `length`: it was cut off; `refused`: the provider would not go on. */
export type EndReason = 'stop' | 'uses' | 'length' | 'refused'

export interface Model {
  /** For people and records: `anthropic/claude-…`. */
  readonly name: string
  /**
   * Fails with a fault: MODEL_UNAVAILABLE after tries in vain (`details.retryAfter`: milliseconds), MODEL_OVERFLOW when the
   * request is too long for it, MODEL_REFUSED when the key, the name or the request is wrong.
   */
  stream(request: ModelRequest): AsyncIterable<ModelEvent>
}

/** The two that an agent switches between: low energy takes the cheap one. */
export interface Models {
  readonly normal: Model
  readonly cheap: Model
}
