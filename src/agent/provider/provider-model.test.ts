import fc from 'fast-check'
import { afterEach, expect, test } from 'vitest'
import {
  type Answer,
  failing,
  overflow,
  overloaded,
  rateLimited,
  say,
  unknownModel,
  wrongKey,
} from '../../../test/servers/models/answers.ts'
import { type ModelEndpoint, type Script, startModels } from '../../../test/servers/models/endpoint.ts'
import type { Fault } from '../../base/fault.ts'
import { tried } from '../../base/thorough.ts'
import type { ModelEvent, ModelRequest } from '../model.ts'
import type { ModelChoice } from './choose.ts'
import { type ProviderTerms, providerModel } from './provider-model.ts'

const open: ModelEndpoint[] = []
afterEach(async () => {
  for (const endpoint of open.splice(0)) await endpoint.close()
})

const KEY = 'secret-key-of-the-test'

interface Rig {
  readonly endpoint: ModelEndpoint
  readonly waits: number[]
  ask(request?: Partial<ModelRequest>): AsyncIterable<ModelEvent>
}

async function rig(
  provider: ModelChoice['provider'],
  script: Script | Answer[],
  terms: Partial<ProviderTerms> = {},
): Promise<Rig> {
  const endpoint = await startModels(script)
  open.push(endpoint)
  const waits: number[] = []
  const choice = { provider, name: 'big', baseUrl: endpoint.url, key: KEY, keyVariable: 'THE_KEY' }
  const pause = async (milliseconds: number) => void waits.push(milliseconds)
  const model = providerModel(choice, { env: {}, pause, ...terms })
  return { endpoint, waits, ask: (request = {}) => model.stream({ ...REQUEST, ...request }) }
}

const REQUEST: ModelRequest = {
  system: 'You are careful.',
  messages: [{ role: 'user', text: 'hello' }],
  tools: [{ name: 'look', description: 'Looks', inputSchema: { type: 'object', properties: {} } }],
  maxTokens: 1000,
  signal: new AbortController().signal,
}

async function all(events: AsyncIterable<ModelEvent>): Promise<ModelEvent[]> {
  const found: ModelEvent[] = []
  for await (const event of events) found.push(event)
  return found
}

async function faultOf(events: AsyncIterable<ModelEvent>): Promise<Fault> {
  return all(events).then(
    () => expect.unreachable('it did not fail'),
    (error: Fault) => error,
  )
}

function textOf(events: readonly ModelEvent[], type: 'text' | 'thinking' = 'text'): string {
  return events.map((event) => (event.type === type ? event.text : '')).join('')
}

for (const provider of ['anthropic', 'openai'] as const) {
  test(`[E1] ${provider}: what is longer than it can be is cut off, and calls nothing`, async () => {
    const long = 'x'.repeat(60_000)
    const uses = [{ name: 'look', arguments: { at: long }, id: 'one' }]
    for (const answer of [say('', { uses, pieces: 1000 }), say(long, { pieces: 1000 })]) {
      const { ask } = await rig(provider, [answer])
      const events = await all(ask())
      expect(events.at(-1)).toMatchObject({ type: 'end', reason: 'length' })
      expect(events.filter(({ type }) => type === 'use')).toEqual([])
    }
  })

  test(`[E1] ${provider}: thinking, text and uses come in order, then the end with its tokens`, async () => {
    const uses = [
      { name: 'look', arguments: { at: 'a' }, id: 'one' },
      { name: 'look', arguments: '{"at": bro', id: 'two' },
    ]
    const answer = say('Hello there', { thinking: 'hm', uses, usage: { input: 12, output: 34 } })
    const { ask } = await rig(provider, [answer])
    const events = await all(ask())
    expect(textOf(events)).toBe('Hello there')
    expect(textOf(events, 'thinking')).toBe('hm')
    expect(events.slice(-3)).toEqual([
      { type: 'use', use: { id: 'one', name: 'look', arguments: '{"at":"a"}' } },
      { type: 'use', use: { id: 'two', name: 'look', arguments: '{"at": bro' } },
      { type: 'end', reason: 'uses', tokens: { input: 12, output: 34 } },
    ])
  })

  test(`[E1] ${provider}: tokens are estimated where the endpoint does not count`, async () => {
    const { ask } = await rig(provider, [say('a word or two', { usage: 'none' })])
    const end = (await all(ask())).at(-1)
    expect(end).toMatchObject({ type: 'end', reason: 'stop' })
    expect(end?.type === 'end' && end.tokens.input > 1 && end.tokens.output > 1).toBe(true)
  })

  test(`${provider}: a history with broken arguments, errors and empty texts is taken`, async () => {
    const { ask, endpoint } = await rig(provider, [say('fine')])
    const messages: ModelRequest['messages'] = [
      { role: 'user', text: 'first' },
      { role: 'assistant', text: '', uses: [] },
      {
        role: 'assistant',
        text: 'looking',
        uses: [
          { id: 'functions.look:0', name: 'look', arguments: '{"at": bro' },
          { id: 'b', name: 'look', arguments: '' },
        ],
      },
      {
        role: 'tools',
        outcomes: [
          { id: 'functions.look:0', name: 'look', text: 'the arguments are no JSON', isError: true },
          { id: 'b', name: 'look', text: '', isError: false },
        ],
      },
      { role: 'user', text: `half a pair: ${'\ud83d'}` },
    ]
    expect(textOf(await all(ask({ messages })))).toBe('fine')
    const [asked] = endpoint.asked
    expect(asked?.text).toContain('the arguments are no JSON')
    expect(JSON.stringify(asked?.body)).not.toContain('\\ud83d')
    if (provider === 'anthropic') expect(JSON.stringify(asked?.body)).not.toContain('functions.look:0')
    expect(asked).toMatchObject({ key: KEY, system: 'You are careful.' })
  })

  test(`${provider}: an answer that was cut off or refused calls nothing`, async () => {
    for (const reason of ['length', 'refused'] as const) {
      const { ask } = await rig(provider, [
        say('well', { reason, uses: [{ name: 'look', arguments: '{"at": "a lo' }] }),
      ])
      const events = await all(ask())
      expect(events.some((event) => event.type === 'use')).toBe(false)
      expect(events.at(-1)).toMatchObject({ type: 'end', reason })
    }
  })

  test(`[E1] ${provider}: it tries again on 429, 5xx and a lost connection, waiting as long as it is asked to`, async () => {
    const { ask, waits, endpoint } = await rig(provider, [
      rateLimited('3'),
      failing(503),
      { kind: 'drop' },
      say('at last'),
    ])
    expect(textOf(await all(ask()))).toBe('at last')
    expect(endpoint.asked).toHaveLength(4)
    expect(waits).toHaveLength(3)
    expect(waits[0]).toBeGreaterThanOrEqual(3000)
    for (const wait of waits.slice(1)) expect(wait).toBeLessThanOrEqual(2000)
  })

  test(`${provider}: after four tries in vain the model is unavailable`, async () => {
    const { ask, endpoint } = await rig(provider, [overloaded()])
    expect(await faultOf(ask())).toMatchObject({ code: 'MODEL_UNAVAILABLE' })
    expect(endpoint.asked).toHaveLength(4)
  })

  test(`${provider}: who is asked to wait for minutes is told so at once`, async () => {
    const { ask, endpoint } = await rig(provider, [rateLimited('600')])
    expect(await faultOf(ask())).toMatchObject({
      code: 'MODEL_UNAVAILABLE',
      details: { retryAfter: 600_000 },
    })
    expect(endpoint.asked).toHaveLength(1)
  })

  test(`[E1] ${provider}: nothing is asked twice once something was said, and a torn answer calls nothing`, async () => {
    const answer = say('a long answer that ends, but not before it was long', {
      uses: [{ name: 'look', arguments: { at: 'far' } }],
    })
    for (const cut of [{ cutAfter: 8 }, { errorAfter: 8 }, { cutAfter: 12 }]) {
      const { ask, endpoint } = await rig(provider, [{ ...answer, ...cut }])
      const seen: ModelEvent[] = []
      const fault = await (async () => {
        for await (const event of ask()) seen.push(event)
      })().catch((error: Fault) => error)
      expect(fault).toMatchObject({ code: 'MODEL_UNAVAILABLE' })
      expect(seen.length).toBeGreaterThan(0)
      expect(seen.every((event) => event.type === 'text')).toBe(true)
      expect(endpoint.asked).toHaveLength(1)
    }
  })

  test(`${provider}: a stream that breaks before its first word is asked for again`, async () => {
    const { ask, endpoint } = await rig(provider, [say('lost', { cutAfter: 1 }), say('found')])
    expect(textOf(await all(ask()))).toBe('found')
    expect(endpoint.asked).toHaveLength(2)
  })

  test(`[E1] ${provider}: a conversation that is too long is told apart`, async () => {
    const { ask, endpoint } = await rig(provider, [overflow[provider]()])
    expect(await faultOf(ask())).toMatchObject({ code: 'MODEL_OVERFLOW' })
    expect(endpoint.asked).toHaveLength(1)
  })

  test(`${provider}: a wrong key and a wrong name say what to change, and never the key`, async () => {
    const { ask, endpoint } = await rig(provider, [wrongKey(KEY), unknownModel()])
    const key = await faultOf(ask())
    expect(key).toMatchObject({ code: 'MODEL_REFUSED', hint: expect.stringContaining('THE_KEY') })
    expect(JSON.stringify([key.message, key.hint, key.details, String(key.stack), key.cause])).not.toContain(
      KEY,
    )
    expect(await faultOf(ask())).toMatchObject({
      code: 'MODEL_REFUSED',
      hint: expect.stringContaining('agent.model.name'),
    })
    expect(endpoint.asked).toHaveLength(2)
  })

  test(`[E1] ${provider}: the signal ends the request, before the first word and in the middle`, async () => {
    const hold = new Promise(() => {})
    const scripts: Answer[] = [
      { kind: 'hang' },
      { kind: 'hang', headers: true },
      say('one two three four five six seven eight', { pace: (sent) => (sent > 6 ? hold : undefined) }),
    ]
    for (const script of scripts) {
      const stop = new AbortController()
      const { ask, endpoint } = await rig(provider, () => {
        if (script.kind === 'hang') setImmediate(() => stop.abort(new Error('enough')))
        return script
      })
      const asking = (async () => {
        for await (const _ of ask({ signal: stop.signal })) stop.abort(new Error('enough'))
      })()
      await expect(asking).rejects.toThrow('enough')
      expect(await endpoint.asked[0]?.ended).toBe('left')
      expect(endpoint.asked).toHaveLength(1)
    }
  })

  test(`${provider}: whoever stops listening ends the request`, async () => {
    const hold = new Promise(() => {})
    const { ask, endpoint } = await rig(provider, [
      say('one two three four five six seven', { pace: (sent) => (sent > 6 ? hold : undefined) }),
    ])
    for await (const _ of ask()) break
    expect(await endpoint.asked[0]?.ended).toBe('left')
  })

  test(`${provider}: an endpoint that falls silent is given up`, async () => {
    const { ask } = await rig(provider, [{ kind: 'hang' }], { idle: 30 })
    expect(await faultOf(ask())).toMatchObject({
      code: 'MODEL_UNAVAILABLE',
      message: expect.stringContaining('silent'),
    })
  })

  test(`${provider}: garbage, pages and other addresses are no answers`, async () => {
    const elsewhere = await startModels([say('stolen')])
    open.push(elsewhere)
    const cases: [Answer, string][] = [
      [{ kind: 'garbage', text: 'data: {"no": [json\n\ndata: 7\n\n' }, 'MODEL_UNAVAILABLE'],
      [{ kind: 'garbage', text: '' }, 'MODEL_UNAVAILABLE'],
      [{ kind: 'garbage', text: '<html>\u001b[2Jwelcome</html>', type: 'text/html' }, 'MODEL_REFUSED'],
      [{ kind: 'redirect', to: `${elsewhere.url}/messages` }, 'MODEL_REFUSED'],
    ]
    for (const [answer, code] of cases) {
      const { ask } = await rig(provider, [answer])
      const fault = await faultOf(ask())
      expect(fault).toMatchObject({ code })
      expect(fault.message).not.toContain('\u001b')
    }
    expect(elsewhere.asked).toEqual([])
  })

  test(`${provider}: whatever is said, in whatever pieces, arrives as it was`, async () => {
    const { ask, endpoint } = await rig(provider, [])
    const word = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 })
    await fc.assert(
      fc.asyncProperty(
        word,
        fc.option(word, { nil: undefined }),
        fc.array(fc.dictionary(word, fc.jsonValue()), { maxLength: 3 }),
        fc.integer({ min: 1, max: 20 }),
        async (text, thinking, args, pieces) => {
          const uses = args.map((each) => ({ name: 'look', arguments: each as Record<string, unknown> }))
          endpoint.answer([say(text, { ...(thinking === undefined ? {} : { thinking }), uses, pieces })])
          const events = await all(ask())
          expect(textOf(events)).toBe(text)
          expect(textOf(events, 'thinking')).toBe(thinking ?? '')
          const given = events.flatMap((event) => (event.type === 'use' ? [event.use.arguments] : []))
          expect(given).toEqual(args.map((each) => JSON.stringify(each)))
        },
      ),
      { numRuns: tried(60) },
    )
  })

  test(`${provider}: the signal also ends the wait before the next try`, async () => {
    const stop = new AbortController()
    const { ask, endpoint } = await rig(
      provider,
      () => {
        setImmediate(() => stop.abort(new Error('enough')))
        return rateLimited('25')
      },
      { pause: undefined },
    )
    await expect(all(ask({ signal: stop.signal }))).rejects.toThrow('enough')
    expect(endpoint.asked).toHaveLength(1)
  })

  test(`${provider}: many are asked at once`, async () => {
    const { ask } = await rig(provider, ({ text }) => say(`you said ${text}`))
    const answers = await Promise.all(
      Array.from({ length: 30 }, async (_, index) =>
        textOf(await all(ask({ messages: [{ role: 'user', text: `word ${index}` }] }))),
      ),
    )
    expect(answers).toEqual(answers.map((_, index) => `you said word ${index}`))
  })

  test(`${provider}: an address where nobody listens is unavailable`, async () => {
    const { ask, endpoint } = await rig(provider, [])
    await endpoint.close()
    expect(await faultOf(ask())).toMatchObject({
      code: 'MODEL_UNAVAILABLE',
      message: expect.stringContaining('nothing listens'),
    })
  })
}
