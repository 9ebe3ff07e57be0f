import {
  type Attributes,
  type AttributeValue,
  type Span,
  type SpanOptions,
  SpanStatusCode,
  type Tracer,
  type TracerProvider,
  trace,
} from '@opentelemetry/api'
import { afterEach, expect, test } from 'vitest'
import { loadTracing } from './trace.ts'

interface Seen {
  readonly name: string
  readonly options: SpanOptions
  readonly attributes: Attributes
  status?: number
  ended: number
}

/** A provider that remembers, through a span which does what the API wants of one. */
function remembering(): { provider: TracerProvider; spans: Seen[] } {
  const spans: Seen[] = []
  const tracer: Tracer = {
    startSpan(name, options = {}) {
      const seen: Seen = { name, options, attributes: { ...options.attributes }, ended: 0 }
      spans.push(seen)
      const span: Span = {
        spanContext: () => ({ traceId: '1'.repeat(32), spanId: '1'.repeat(16), traceFlags: 1 }),
        setAttribute(key: string, value: AttributeValue) {
          seen.attributes[key] = value
          return span
        },
        setAttributes: () => span,
        addEvent: () => span,
        addLink: () => span,
        addLinks: () => span,
        setStatus({ code }) {
          seen.status = code
          return span
        },
        updateName: () => span,
        end: () => {
          seen.ended += 1
        },
        isRecording: () => true,
        recordException: () => {},
      }
      return span
    },
    startActiveSpan: () => {
      throw new Error('not used')
    },
  }
  return { provider: { getTracer: () => tracer }, spans }
}

const about = { method: 'tools/call', server: 'github', agent: 'cto', tool: 'create_issue' }

afterEach(() => trace.disable())

test('gives no span when nobody has registered a provider', async () => {
  const tracing = await loadTracing()
  expect(tracing.startSpan(about)).toBeUndefined()
})

test('says what was called, for whom and how it ended, and nothing else', async () => {
  const { provider, spans } = remembering()
  trace.setGlobalTracerProvider(provider)
  const tracing = await loadTracing()
  tracing.startSpan(about)?.end('done')
  expect(spans).toMatchObject([{ name: 'tools/call create_issue', ended: 1 }])
  expect(spans[0]?.attributes).toEqual({
    'mcp.method.name': 'tools/call',
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': 'create_issue',
    'busbar.server': 'github',
    'busbar.agent': 'cto',
    'busbar.outcome': 'done',
  })
  expect(spans[0]?.status).toBeUndefined()
})

test('a failure has its code and the status of an error', async () => {
  const { provider, spans } = remembering()
  trace.setGlobalTracerProvider(provider)
  const tracing = await loadTracing()
  tracing.startSpan({ method: 'resources/read', server: 'files' })?.end('failed', 'CALL_TIMEOUT')
  expect(spans).toMatchObject([
    {
      name: 'resources/read',
      status: SpanStatusCode.ERROR,
      attributes: { 'error.type': 'CALL_TIMEOUT', 'busbar.outcome': 'failed' },
    },
  ])
})

test('a provider that comes later is found, and one that goes is forgotten', async () => {
  const { provider, spans } = remembering()
  const tracing = await loadTracing()
  trace.setGlobalTracerProvider(provider)
  tracing.startSpan(about)
  await expect.poll(() => tracing.startSpan(about) !== undefined).toBe(true)
  expect(spans.length).toBe(1)
  trace.disable()
  expect(tracing.startSpan(about)).toBeUndefined()
})

test('a provider that throws stops no call', async () => {
  trace.setGlobalTracerProvider({
    getTracer: () => {
      throw new Error('broken')
    },
  })
  const tracing = await loadTracing()
  expect(tracing.startSpan(about)).toBeUndefined()
})

test('a span that throws stops no call', async () => {
  const { provider } = remembering()
  const tracer = provider.getTracer('')
  const broken: Tracer = {
    ...tracer,
    startSpan: (name, options) => ({
      ...tracer.startSpan(name, options),
      end: () => {
        throw new Error('broken')
      },
    }),
  }
  trace.setGlobalTracerProvider({ getTracer: () => broken })
  const span = (await loadTracing()).startSpan(about)
  expect(() => span?.end('done')).not.toThrow()
})
