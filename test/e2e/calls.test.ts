// Calls: many at a time, wrong ids, large and deep answers, deadlines, cancellation, and servers that ask back.

import { expect, test } from 'vitest'
import { serverCommand } from '../servers/start.ts'
import {
  type Answer,
  asked,
  between,
  codeOf,
  entry,
  faultOf,
  type Hub,
  hubWith,
  ownServer,
  place,
  until,
} from './hub.ts'

const MB = 1024 * 1024
const SHARED = ['stdio', 'http', 'http event streams', 'websocket'] as const

for (const wire of SHARED)
  test(`[B6] ${wire}: a thousand calls at a time over one connection never mix`, async () => {
    const server = await entry(wire, 'plain')
    const hub = await hubWith({ plain: server })
    const words = Array.from({ length: 1000 }, (_, index) => `${index} ${'x'.repeat(index % 97)}`)
    const order: string[] = []
    const answers = await Promise.all(
      words.map(async (text, index) => {
        const slow = index % 10 === 0
        const { text: answer } = slow
          ? await hub.as().call('plain/sleep', { ms: index / 10 })
          : await hub.as().call('plain/echo', { text })
        order.push(answer)
        return answer
      }),
    )
    expect(answers).toEqual(words.map((text, index) => (index % 10 === 0 ? `slept ${index / 10} ms` : text)))
    expect(order).not.toEqual(answers)
    expect(hub.servers.get('plain')).toMatchObject({ inFlight: 0, oddities: { count: 0 } })
  })

test('[B6][C10] beyond what may be under way calls wait in turn; beyond what may wait they are refused', async () => {
  const hub = await hubWith({
    plain: { ...serverCommand('plain'), limits: { inFlight: 2, queue: 3 } },
    other: serverCommand('plain'),
  })
  const calls = Array.from({ length: 8 }, (_, index) =>
    hub
      .as()
      .call('plain/count')
      .then(
        ({ text }) => `${index}: ${text}`,
        ({ code }) => `${index}: ${code}`,
      ),
  )
  expect((await hub.as().call('other/echo', { text: 'free' })).text).toBe('free')
  expect(await Promise.all(calls)).toEqual([
    ...['1', '2', '3', '4', '5'].map((text, index) => `${index}: ${text}`),
    ...[5, 6, 7].map((index) => `${index}: SERVER_BUSY`),
  ])
})

for (const wire of ['stdio', 'http event streams', 'websocket'] as const)
  test(`[B6][B9] ${wire}: duplicate, stray, textual and late ids reach no wrong call`, async () => {
    const hub = await hubWith({ ids: await entry(wire, 'wrong-ids') })
    const say = async (name: string) => (await hub.as().call(`ids/${name}`)).text
    const together = await Promise.all([say('duplicate'), say('unknown'), say('string-id'), say('late')])
    expect(together).toEqual(['first', 'right', 'string id', 'late'])
    const many = Array.from({ length: 50 }, (_, index) => hub.as().call('ids/echo', { text: `e${index}` }))
    const odd = Array.from({ length: 50 }, () => say('duplicate'))
    expect((await Promise.all(many)).map(({ text }) => text)).toEqual(many.map((_, index) => `e${index}`))
    expect(new Set(await Promise.all(odd))).toEqual(new Set(['first']))
    const late = hub.as().call('ids/late', {}, { signal: AbortSignal.timeout(5) })
    expect(await codeOf(late)).toBe('CALL_CANCELLED')
    expect((await hub.as().call('ids/late')).text).toBe('late')
    if (wire !== 'http event streams') expect(hub.servers.get('ids').oddities.count).toBeGreaterThan(0)
  })

test('[B9] an error without an id belongs to the only call there is, and to none when there are several', async () => {
  const hub = await hubWith({ ids: serverCommand('wrong-ids', { era: 'legacy' }) })
  const alone = await hub.as().call('ids/null-id')
  expect([alone.isError, alone.text]).toEqual([true, 'Whose error is this?'])
  const [lost, slept] = await Promise.all([
    codeOf(hub.as().call('ids/null-id', {}, { timeout: 300 })),
    hub.as().call('ids/sleep', { ms: 400 }),
  ])
  expect([lost, slept.text]).toEqual(['CALL_TIMEOUT', 'slept 400 ms'])
})

for (const wire of SHARED)
  for (const idLast of wire === 'stdio' ? [false, true] : [false])
    test(`[B6] ${wire}${idLast ? ', id last' : ''}: a result of 64 MB fails alone; other calls of the server survive`, async () => {
      const hub = await hubWith({ huge: await entry(wire, 'huge') })
      const [huge, slept, echoed] = await Promise.all([
        faultOf(hub.as().call('huge/huge', { bytes: 64 * MB, idLast })),
        hub
          .as()
          .call('huge/sleep', { ms: 100 })
          .then(
            ({ text }) => text,
            ({ message }) => message,
          ),
        hub
          .as()
          .call('huge/echo', { text: 'small' })
          .then(
            ({ text }) => text,
            ({ message }) => message,
          ),
      ])
      expect([huge.code, huge.server, huge.hint]).toEqual([
        'MESSAGE_TOO_LARGE',
        'huge',
        expect.stringContaining('limits.message'),
      ])
      expect([slept, echoed]).toEqual(['slept 100 ms', 'small'])
      expect((await hub.as().call('huge/echo', { text: 'after' })).text).toBe('after')
    })

for (const wire of ['stdio', 'http'] as const)
  test(`[C5] ${wire}: a result of 64 MB arrives where limits.message allows it`, async () => {
    const server = await entry(wire, 'huge')
    const hub = await hubWith({ huge: { ...server, limits: { message: '80MB' } } })
    const result = await hub.as().call('huge/huge', { bytes: 64 * MB, idLast: wire === 'stdio' })
    expect(result.bytes.length).toBeGreaterThan(64 * MB)
    expect(result.isError).toBe(false)
    expect(JSON.parse(String(result.bytes)).content[0].text).toBe(result.text)
  })

for (const tool of ['endless-json', 'endless-event'])
  test(` http: an answer without an end (${tool}) is cut at the limit`, async () => {
    const hub = await hubWith({ body: { ...(await entry('http', 'huge-body')), limits: { message: '1MB' } } })
    expect(await codeOf(hub.as().call(`body/${tool}`))).toBe('MESSAGE_TOO_LARGE')
    expect((await hub.as().call('body/echo', { text: 'after' })).text).toBe('after')
  })

test(' stdio: a line without an end fails its call, not the hub', async () => {
  const hub = await hubWith({ huge: { ...serverCommand('huge'), limits: { message: '1MB' } } })
  const code = await codeOf(hub.as().call('huge/endless', {}, { timeout: 1500 }))
  expect(code).toMatch(/^(?:MESSAGE_TOO_LARGE|CALL_TIMEOUT|CONNECTION_LOST)$/)
})

for (const wire of ['stdio', 'http'] as const)
  test(` ${wire}: an answer nested too deep fails alone with its own code`, async () => {
    const hub = await hubWith({ deep: await entry(wire, 'deep') })
    const [fault, { text }] = await Promise.all([
      faultOf(
        hub
          .as()
          .call('deep/deep', { depth: 100_000 })
          .then((result) => result.json()),
      ),
      hub.as().call('deep/echo', { text: 'beside' }),
    ])
    expect([fault.code, text]).toEqual(['MESSAGE_INVALID', 'beside'])
    expect((await hub.as().call('deep/deep', { depth: 20 })).text).toBe('20 deep')
  })

test('[B9] numbers beyond a double and keys that stand twice are in the bytes as the server wrote them', async () => {
  const hub = await hubWith({ big: serverCommand('big-numbers') })
  const text = String((await hub.as().call('big/numbers')).bytes)
  expect(text).toContain('"integer":12345678901234567891,"negative":-9007199254740993,"float":1.0')
  expect(text).toContain('"twice":{"a":1,"a":2,"nested":{"b":"first","b":"second"}}')
})

/** A server of the test's own that tells what it was told to cancel. */
async function cancelling(timeouts: object = {}): Promise<Hub> {
  const home = place()
  const own = ownServer(
    home.sandbox,
    '{ hang: () => new Promise(() => {}), cancelled: () => cancelled, calls: () => calls }',
    `const cancelled = []; let calls = 0
globalThis.seen = (method, params) => {
  if (method === 'notifications/cancelled') cancelled.push(params)
  if (method === 'tools/call') calls++
}`,
  )
  const hub = await home.open({ servers: { own: { ...own, timeouts } } })
  await hub.as().ready()
  return hub
}

test('[C5] a call that hangs is given up in time, and the server is told', async () => {
  const hub = await cancelling({ call: 200 })
  const fault = await faultOf(hub.as().call('own/hang'))
  expect(fault).toMatchObject({
    code: 'CALL_TIMEOUT',
    server: 'own',
    hint: expect.stringContaining('timeouts.call'),
  })
  expect(fault.message).toContain('200 ms')
  await until(async () => (await asked(hub, 'own/cancelled')).length === 1)
  expect((await asked(hub, 'own/cancelled'))[0]).toMatchObject({ requestId: expect.any(Number) })
  expect(await codeOf(hub.as().call('own/hang', {}, { timeout: 50 }))).toBe('CALL_TIMEOUT')
  expect(hub.servers.get('own').inFlight).toBe(0)
})

test('[C5] an abort cancels the call at the server, and one before it is never sent', async () => {
  const hub = await cancelling()
  const controller = new AbortController()
  const hanging = codeOf(hub.as().call('own/hang', {}, { signal: controller.signal }))
  await until(async () => (await asked(hub, 'own/calls')) > 0)
  controller.abort()
  expect(await hanging).toBe('CALL_CANCELLED')
  await until(async () => (await asked(hub, 'own/cancelled')).length === 1)
  const before = await asked(hub, 'own/calls')
  expect(await codeOf(hub.as().call('own/hang', {}, { signal: AbortSignal.abort() }))).toBe('CALL_CANCELLED')
  expect(await asked(hub, 'own/calls')).toBe(before + 1)
})

for (const era of ['legacy', 'modern'] as const)
  test(`[C5] http, ${era}: a cancelled call is heard of by the server in the way of its era`, async () => {
    const { url, requests } = await between((await entry('http', 'plain', { era })).url)
    const hub = await hubWith({ plain: { url } })
    const before = requests.length
    const controller = new AbortController()
    const call = codeOf(hub.as().call('plain/sleep', { ms: 600_000 }, { signal: controller.signal }))
    await until(() => requests.length > before)
    controller.abort()
    expect(await call).toBe('CALL_CANCELLED')
    // Modern: its stream is closed. Legacy: a notification, which is a request of its own.
    const heard = () => requests.slice(before).some((it, at) => (era === 'modern' ? it.left : at > 0))
    await until(heard)
    expect((await hub.as().call('plain/echo', { text: 'on' })).text).toBe('on')
  })

for (const wire of ['stdio', 'http event streams'] as const)
  test(`[C5] ${wire}: progress gives a call more time, up to a hard limit`, async () => {
    const server = await entry(wire, 'plain')
    const hub = await hubWith({ plain: { ...server, timeouts: { call: 1000, total: '10s' } } })
    const { text } = await hub.as().call('plain/progress', { steps: 5, delay: 300 })
    expect(text).toBe('5 steps')
    await hub.servers.setServers({ plain: { ...server, timeouts: { call: 400, total: 700 } } })
    const fault = await faultOf(hub.as().call('plain/progress', { steps: 10_000, delay: 20 }))
    expect([fault.code, fault.message]).toEqual(['CALL_TIMEOUT', expect.stringContaining('700 ms')])
  })

test('[C5] arguments of megabytes to a server that stopped reading end in a time-out, not in a crash', async () => {
  const hub = await hubWith({ deaf: serverCommand('no-read', { case: 'call' }) })
  const calls = Array.from({ length: 3 }, () =>
    codeOf(hub.as().call('deaf/echo', { text: 'x'.repeat(5 * MB) }, { timeout: 500 })),
  )
  expect(await Promise.all(calls)).toEqual(['CALL_TIMEOUT', 'CALL_TIMEOUT', 'CALL_TIMEOUT'])
})

for (const wire of ['stdio', 'http', 'websocket'] as const)
  for (const era of ['legacy', 'modern'] as const) {
    test(`[C5] ${wire}, ${era}: a server that asks back is answered by the owner’s handlers`, async () => {
      const requests: Answer[] = []
      const hub = await hubWith(
        { elicit: await entry(wire, 'elicit', { era }) },
        {
          onElicitation: (request) => {
            requests.push(request)
            return { action: 'accept', content: { name: 'Ada' } }
          },
          onSampling: ({ server, params }) => {
            requests.push({ server, ...params })
            return { model: 'm', role: 'assistant', content: { type: 'text', text: 'Paris' } }
          },
          roots: [{ uri: 'file:///work', name: 'work' }],
        },
      )
      // What a person leaves alone has its default.
      expect(await asked(hub, 'elicit/ask')).toEqual({
        action: 'accept',
        content: { name: 'Ada', sure: true },
      })
      expect(await asked(hub, 'elicit/ask-url')).toEqual({ action: 'accept' })
      expect(await asked(hub, 'elicit/sample')).toMatchObject({ content: { text: 'Paris' } })
      expect(await asked(hub, 'elicit/roots')).toEqual({ roots: [{ uri: 'file:///work', name: 'work' }] })
      expect(requests).toMatchObject([
        { server: 'elicit', mode: 'form', message: 'Who are you?', requestedSchema: { required: ['name'] } },
        { server: 'elicit', mode: 'url', url: 'https://example.com/sign-in' },
        { server: 'elicit', maxTokens: 100, systemPrompt: 'Be short.' },
      ])
      const both = await Promise.all([asked(hub, 'elicit/ask'), asked(hub, 'elicit/sample')])
      expect(both).toMatchObject([{ content: { name: 'Ada' } }, { content: { text: 'Paris' } }])
    })

    test(`[C5] ${wire}, ${era}: nothing is offered where there are no handlers; a refusal is passed on`, async () => {
      const server = await entry(wire, 'elicit', { era })
      const silent = await hubWith({ elicit: server })
      for (const tool of ['ask', 'ask-url', 'sample', 'roots']) {
        const result = await silent.as().call(`elicit/${tool}`)
        expect([result.isError, result.text]).toEqual([true, expect.stringContaining('does not offer')])
      }
      const declining = await hubWith({ elicit: server }, { onElicitation: () => ({ action: 'decline' }) })
      expect(await asked(declining, 'elicit/ask')).toEqual({ action: 'decline' })
    })
  }

for (const era of ['legacy', 'modern'] as const)
  test(`[C5] ${era}: a handler that never answers holds a call up no longer than a call may take`, async () => {
    const timeouts = { call: '300ms', total: '900ms' }
    const hub = await hubWith(
      { elicit: { ...serverCommand('elicit', { era }), timeouts } },
      { onElicitation: () => new Promise(() => undefined) },
    )
    const began = performance.now()
    const call = () => faultOf(hub.as().call('elicit/ask'))
    // The first one finds its way, the second one knows it.
    for (const fault of [await call(), await call()])
      expect(fault).toMatchObject({
        code: 'CALL_TIMEOUT',
        message: 'elicit did not answer tools/call within 900 ms',
        hint: 'give it longer: timeouts.total of elicit',
      })
    expect(performance.now() - began).toBeGreaterThan(1_700)
    expect((await hub.as().call('elicit/echo', { text: 'still there' })).text).toBe('still there')
  })

test('[C5] a handler that fails is told as that where a modern server asks', async () => {
  const hub = await hubWith(
    { elicit: serverCommand('elicit', { era: 'modern' }) },
    {
      onElicitation: () => {
        throw new Error('nobody at the desk')
      },
    },
  )
  expect(await faultOf(hub.as().call('elicit/ask'))).toMatchObject({
    code: 'NOT_SUPPORTED',
    message:
      'elicit asks for elicitation/create, and the handler for elicitation/create failed: nobody at the desk',
    hint: expect.stringContaining('onElicitation'),
  })
})

test('[C5][B9] a server that asks without being offered it gets a proper error; a dangerous url is not shown', async () => {
  const home = place()
  const own = ownServer(
    home.sandbox,
    `{
  push: ({ method, params }, say) => new Promise((resolve) => {
    const id = 'own-' + Math.random()
    waiting.set(id, resolve)
    say({ id, method, params })
  }),
}`,
    `const waiting = new Map()
globalThis.seen = (method, params, line) => {
  const { id, result, error } = JSON.parse(line)
  if (method === undefined) waiting.get(id)?.({ result, error })
}`,
  )
  const seen: unknown[] = []
  const without = await home.open({ servers: { own } })
  for (const method of ['elicitation/create', 'sampling/createMessage', 'roots/list', 'no/such'])
    expect(await asked(without, 'own/push', { method, params: {} })).toMatchObject({
      error: { code: -32601 },
    })
  expect(await asked(without, 'own/push', { method: 'ping' })).toEqual({ result: {} })
  await without.close()
  const handling = await home.open(
    { servers: { own } },
    {
      onElicitation: (request) => {
        seen.push(request)
        throw new Error('nobody is here')
      },
    },
  )
  const elicit = (params: object) => asked(handling, 'own/push', { method: 'elicitation/create', params })
  expect(await elicit({ mode: 'url', url: 'javascript:alert(1)', message: 'x' })).toMatchObject({
    error: { code: -32602 },
  })
  expect(seen).toEqual([])
  expect(await elicit({ message: 'x', requestedSchema: {} })).toMatchObject({ error: { code: -32603 } })
})
