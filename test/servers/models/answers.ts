// What a scripted model endpoint can answer, the same for both APIs.

/** A tool that the model wants called. */
export interface ScriptedUse {
  name: string
  /** An object, or text as it is, which may be broken JSON. */
  arguments: Record<string, unknown> | string
  id?: string
}

/** A whole answer, sent in pieces. */
export interface Say {
  kind: 'say'
  thinking?: string
  text?: string
  uses?: ScriptedUse[]
  /** Default: `stop`, or what tool uses make of it. */
  reason?: 'stop' | 'length' | 'refused'
  /** `none`: the endpoint does not count. Default: counted by length. */
  usage?: { input: number; output: number } | 'none'
  /** Characters in one piece; default 7, so that names, words and JSON are torn apart. */
  pieces?: number
  /** Awaited before each event but the first: the test holds the stream in its hand. */
  pace?: (event: number) => Promise<unknown> | undefined
  /** Ends the connection after so many events. */
  cutAfter?: number
  /** In the middle of the answer, after so many events, the API says that it has too much to do. */
  errorAfter?: number
}

/** An answer that is none. */
export interface Refuse {
  kind: 'refuse'
  status: number
  /** As the API in question writes it; `type` is Anthropic's, `code` OpenAI's. */
  message: string
  type?: string
  code?: string
  /** Seconds, or a date. */
  retryAfter?: string
}

export type Answer =
  | Say
  | Refuse
  /** 200, and then something that is no stream of events of this API. */
  | { kind: 'garbage'; text: string; type?: string }
  /** Nothing at all, until the client goes away; `headers`: they come, and then nothing. */
  | { kind: 'hang'; headers?: boolean }
  /** The connection ends without an answer. */
  | { kind: 'drop' }
  | { kind: 'redirect'; to: string }

export function say(text: string, more: Omit<Partial<Say>, 'kind'> = {}): Say {
  return { kind: 'say', text, ...more }
}

export function use(name: string, args: ScriptedUse['arguments'] = {}, id?: string): Say {
  return { kind: 'say', uses: [{ name, arguments: args, ...(id === undefined ? {} : { id }) }] }
}

export const rateLimited = (retryAfter?: string): Refuse => ({
  kind: 'refuse',
  status: 429,
  message: 'Number of requests has exceeded your rate limit',
  type: 'rate_limit_error',
  code: 'rate_limit_exceeded',
  ...(retryAfter === undefined ? {} : { retryAfter }),
})

export const failing = (status = 500): Refuse => ({
  kind: 'refuse',
  status,
  message: 'Internal server error',
  type: 'api_error',
  code: 'server_error',
})

export const overloaded = (): Refuse => ({
  kind: 'refuse',
  status: 529,
  message: 'Overloaded',
  type: 'overloaded_error',
})

/** As Anthropic words it, and as OpenAI does: the words are all that tells it from other refusals of the former. */
export const overflow = {
  anthropic: (): Refuse => ({
    kind: 'refuse',
    status: 400,
    message: 'prompt is too long: 208310 tokens > 200000 maximum',
    type: 'invalid_request_error',
  }),
  openai: (): Refuse => ({
    kind: 'refuse',
    status: 400,
    message:
      "This model's maximum context length is 128000 tokens. However, your messages resulted in 140221 tokens.",
    type: 'invalid_request_error',
    code: 'context_length_exceeded',
  }),
} as const

/** Some endpoints repeat the key they were given. */
export const wrongKey = (key = 'sk-…'): Refuse => ({
  kind: 'refuse',
  status: 401,
  message: `Incorrect API key provided: ${key}`,
  type: 'authentication_error',
  code: 'invalid_api_key',
})

export const unknownModel = (name = 'no-such-model'): Refuse => ({
  kind: 'refuse',
  status: 404,
  message: `The model ${name} does not exist`,
  type: 'not_found_error',
  code: 'model_not_found',
})
