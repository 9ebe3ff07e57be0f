// Spans for OpenTelemetry, for whoever has set it up in this process; for everybody else nothing is even loaded.
// Names follow https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/mcp.md.

import type { Attributes, Tracer } from '@opentelemetry/api'

/** What a span says. There is no place for arguments or results, because they may hold anything. */
interface SpanAbout {
  /** `tools/call` */
  readonly method: string
  readonly server: string
  readonly agent?: string | undefined
  /** The tool's name as its server knows it. */
  readonly tool?: string | undefined
}

export interface CallSpan {
  /** Must be called once. `error` is a code that stands for a kind of failure, never a message. */
  end(outcome: string, error?: string): void
}

export interface Tracing {
  /** Whether anybody listens; a look that costs nearly nothing. */
  readonly isOn: boolean
  /** A span that has begun; undefined, for the price of looking, when nobody listens. Never throws. */
  startSpan(about: SpanAbout): CallSpan | undefined
}

/**
 * Tracing for a hub. Who registers a provider before this is awaited misses nothing; who does it later misses the calls
 * that begin until the API is loaded.
 */
export async function loadTracing(): Promise<Tracing> {
  const tracing = new LazyTracing()
  if (isRegistered()) await tracing.load()
  return tracing
}

// --- internal ---

type Api = typeof import('@opentelemetry/api')

/**
 * Where every 1.x copy of the API keeps what was registered, so that copies find each other. Looking here first spares
 * the load of an API that then says that there is nobody (the tests hold that this place is still the right one).
 */
const REGISTERED: unique symbol = Symbol.for('opentelemetry.js.api.1') as never

function isRegistered(): boolean {
  const registered = (globalThis as { [REGISTERED]?: { trace?: unknown } })[REGISTERED]
  return registered?.trace !== undefined
}

class LazyTracing implements Tracing {
  #api: Api | undefined
  #loading: Promise<void> | undefined

  get isOn(): boolean {
    return isRegistered()
  }

  startSpan(about: SpanAbout): CallSpan | undefined {
    if (!isRegistered()) return undefined
    if (this.#api === undefined) {
      void this.load()
      return undefined
    }
    return begin(this.#api, about)
  }

  /** Loads the API once. Without it there is no tracing, and nothing else changes. */
  load(): Promise<void> {
    this.#loading ??= import('@opentelemetry/api').then(
      (api) => {
        this.#api = api
      },
      (error: unknown) => process.emitWarning(`tracing is off: ${String(error)}`),
    )
    return this.#loading
  }
}

function begin(api: Api, about: SpanAbout): CallSpan | undefined {
  try {
    // Asked for each time: who listens may change, and both sides keep their tracers.
    const tracer: Tracer = api.trace.getTracer('busbar')
    const { method, tool } = about
    const span = tracer.startSpan(tool === undefined ? method : `${method} ${tool}`, {
      kind: api.SpanKind.CLIENT,
      attributes: attributesOf(about),
    })
    return {
      end: quietly((outcome: string, error?: string) => {
        span.setAttribute('busbar.outcome', outcome)
        if (error !== undefined) {
          span.setAttribute('error.type', error)
          span.setStatus({ code: api.SpanStatusCode.ERROR })
        }
        span.end()
      }),
    }
  } catch {
    // Somebody else's exporter must not be able to stop a call.
    return undefined
  }
}

function attributesOf({ method, server, agent, tool }: SpanAbout): Attributes {
  return {
    'mcp.method.name': method,
    'busbar.server': server,
    ...(agent === undefined ? {} : { 'busbar.agent': agent }),
    ...(tool === undefined ? {} : { 'gen_ai.tool.name': tool }),
    ...(method === 'tools/call' ? { 'gen_ai.operation.name': 'execute_tool' } : {}),
  }
}

function quietly(work: CallSpan['end']): CallSpan['end'] {
  return (outcome, error) => {
    try {
      work(outcome, error)
    } catch {
      // As above.
    }
  }
}
