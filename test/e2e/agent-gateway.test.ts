// The agent behind the built gateway: over HTTP, with an endpoint that speaks the model APIs, told by events; and killed in
// the middle of a turn.

import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { say, use } from '../servers/models/answers.ts'
import { type ModelEndpoint, startModels } from '../servers/models/endpoint.ts'
import { FILESYSTEM, MEMORY, official } from './agent-hub.ts'
import type { Answer, Sandbox } from './cli.ts'
import { type Gateway, ownServer, place, until, up } from './hub.ts'

const ADMIN = 'owner-of-all-9c1e'

interface Api {
  call(method: string, path: string, body?: object): Promise<Answer>
  /** Begins a conversation and says something in it. */
  begin(text: string): Promise<string>
  entries(id: string): Promise<Answer[]>
  /** Waits until nothing is done in it. */
  idle(id: string): Promise<Answer[]>
  /** The question that a conversation waits for. */
  question(): Promise<string>
}

function apiOf(gateway: Gateway): Api {
  const headers = { authorization: `Bearer ${ADMIN}`, 'content-type': 'application/json' }
  const call: Api['call'] = async (method, path, body) => {
    const answer = await fetch(gateway.url + path, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    })
    return { status: answer.status, ...((await answer.json()) as object) }
  }
  const show = async (id: string) => (await call('GET', `/api/conversations/${id}`)).conversation
  return {
    call,
    begin: async (text) => {
      const { id } = await call('POST', '/api/conversations', {})
      expect(await call('POST', `/api/conversations/${id}/messages`, { text })).toEqual({
        status: 200,
        seq: 1,
      })
      return id
    },
    entries: async (id) => (await show(id)).messages,
    idle: async (id) => {
      await until(async () => (await show(id)).status === 'idle', 40_000)
      return (await show(id)).messages
    },
    question: () => until(async () => (await call('GET', '/api/approvals')).approvals[0]?.id),
  }
}

function configOf(models: ModelEndpoint, provider: string, more: object): object {
  return {
    agents: { ada: { servers: ['*'], approval: 'never', naming: 's_t' } },
    agent: {
      model: { provider, name: 'big', baseUrl: models.url, key: '${MODEL_KEY}' },
      cheap: { name: 'small' },
    },
    ...more,
  }
}

const ENV = { BUSBAR_ADMIN_TOKEN: ADMIN, MODEL_KEY: 'sk-model-key-5d2f7a' }

async function modelsFor(...script: Parameters<typeof startModels>): Promise<ModelEndpoint> {
  const models = await startModels(...script)
  onTestFinished(() => models.close())
  return models
}

function isUp({ status }: Answer): boolean {
  return status === 'connected'
}

/** What `/api/events` tells, from now on. */
async function feed(gateway: Gateway): Promise<Answer[]> {
  const events: Answer[] = []
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  const answer = await fetch(`${gateway.url}/api/events`, {
    headers: { authorization: `Bearer ${ADMIN}` },
    signal: stop.signal,
  })
  void (async () => {
    let text = ''
    for await (const piece of answer.body ?? []) {
      text += Buffer.from(piece).toString()
      const parts = text.split('\n\n')
      text = parts.pop() ?? ''
      for (const part of parts) {
        const [, type] = /^event: (.*)$/m.exec(part) ?? []
        const [, data] = /^data: (.*)$/m.exec(part) ?? []
        if (type === 'conversation' && data) events.push(JSON.parse(data))
      }
    }
  })().catch(() => undefined)
  return events
}

test.each(['anthropic', 'openai'])(
  '[E1][D7][D10] through the gateway and the API of %s: asks, runs low, takes the small model, waits and finishes',
  async (provider) => {
    const { sandbox } = place()
    sandbox.write('plan.txt', 'buy bread')
    const project = realpathSync(sandbox.project)
    const usage = (output: number) => ({ usage: { input: 10, output } })
    const models = await modelsFor([
      { ...use('files_read_text_file', { path: join(project, 'plan.txt') }), ...usage(7000) },
      {
        ...use('files_write_file', { path: join(project, 'done.txt'), content: 'bread' }),
        ...usage(1000),
      },
      { ...use('memory_read_graph'), ...usage(4000) },
      say('All done.', usage(10)),
    ])
    const gateway = await up(
      sandbox,
      {
        servers: {
          files: { ...official(FILESYSTEM, project), trustAnnotations: true },
          memory: {
            ...official(MEMORY),
            env: { MEMORY_FILE_PATH: join(project, 'memory.json') },
            approval: { '*': 'allow' },
          },
        },
        agents: {
          ada: {
            servers: ['*'],
            approval: 'writes',
            naming: 's_t',
            // Slow enough that a busy machine does not recover before the small model is asked.
            energy: { capacity: 100, recovery: '90/min' },
          },
        },
        agent: {
          model: {
            provider,
            name: 'big',
            baseUrl: models.url,
            key: '${MODEL_KEY}',
            price: { input: 0, output: 10 },
          },
          cheap: { name: 'small', price: { input: 0, output: 10 } },
        },
      },
      { env: ENV },
    )
    const api = apiOf(gateway)
    const events = await feed(gateway)
    await until(async () => (await api.call('GET', '/api/servers')).servers.every(isUp), 40_000)
    const id = await api.begin('Do what the plan says.')
    const question = await api.question()
    await api.call('POST', `/api/approvals/${question}`, { decision: 'allow' })
    const entries = await api.idle(id)
    expect(entries.filter(({ role }) => role === 'turn')).toMatchObject([
      {
        reason: 'done',
        rounds: 4,
        tokens: { output: 12_010 },
        models: expect.arrayContaining(['big', 'small'].map((name) => expect.stringContaining(name))),
      },
    ])
    expect(models.asked.map(({ model }) => model)).toEqual(['big', 'small', 'small', 'small'])
    expect(models.asked.every(({ api, key }) => api === provider && key === ENV.MODEL_KEY)).toBe(true)
    expect(sandbox.read(join(project, 'done.txt'))).toBe('bread')
    const kinds = events.filter((event) => event.id === id).map(({ kind }) => kind)
    expect(kinds).toEqual(
      expect.arrayContaining([
        'message',
        'turn-start',
        'tool-start',
        'tool-end',
        'approval',
        'energy',
        'text',
        'answer',
        'turn-end',
      ]),
    )
    const { calls } = await api.call('GET', `/api/calls?conversation=${id}`)
    const took = calls.filter(({ tool }: Answer) => tool === 'model').map(({ energy }: Answer) => energy)
    expect(took.reverse()).toEqual([70, 10, 40, 0.1])
    expect(JSON.stringify([entries, calls, events])).not.toContain(ENV.MODEL_KEY)

    // What else the API does, and who may use it.
    const { messages } = (await api.call('GET', `/api/conversations/${id}`)).conversation
    const page = await api.call('GET', `/api/conversations/${id}?after=${messages[0].seq}&limit=1`)
    expect(page.conversation.messages).toEqual(messages.slice(1, 2))
    expect((await api.call('GET', `/api/conversations/${id}?after=-1`)).status).toBe(400)
    expect(await api.call('POST', `/api/conversations/${id}/stop`)).toEqual({ status: 200, stopped: false })
    for (const [method, path, body, status] of [
      ['POST', `/api/conversations/${id}/messages`, {}, 400],
      ['POST', `/api/conversations/${id}/messages`, { text: ' ' }, 400],
      ['POST', `/api/conversations/${id}/messages`, { text: 'x', urgency: 'very' }, 400],
      ['POST', '/api/conversations', { agent: 'nobody' }, 404],
      ['GET', '/api/conversations/none', undefined, 404],
      ['POST', '/api/conversations/none/messages', { text: 'x' }, 404],
      ['DELETE', '/api/conversations/none', undefined, 404],
    ] as const)
      expect([path, (await api.call(method, path, body)).status]).toEqual([path, status])
    expect(
      (await fetch(`${gateway.url}/api/conversations`, { headers: { authorization: 'Bearer none' } })).status,
    ).toBe(401)
    expect(await api.call('DELETE', `/api/conversations/${id}`)).toMatchObject({ forgotten: false })
    expect((await api.call('GET', '/api/conversations')).conversations).toMatchObject([
      { id, status: 'ended' },
    ])
    expect(await api.call('DELETE', `/api/conversations/${id}?forget=true`)).toMatchObject({
      forgotten: true,
    })
    expect((await api.call('GET', '/api/conversations')).conversations).toEqual([])

    // Page by page.
    const made: string[] = []
    for (let count = 0; count < 3; count++) made.push((await api.call('POST', '/api/conversations', {})).id)
    const first = await api.call('GET', '/api/conversations?limit=2')
    expect(first.conversations).toHaveLength(2)
    const rest = await api.call('GET', `/api/conversations?limit=2&before=${first.next}`)
    expect(rest.next).toBeUndefined()
    expect([...first.conversations, ...rest.conversations].map((one: Answer) => one.id).sort()).toEqual(
      made.sort(),
    )
    expect((await api.call('GET', '/api/conversations?limit=none')).status).toBe(400)
  },
)

/** A server that notes every call it gets, and does not answer those that are to hang. */
function noting(sandbox: Sandbox): { entry: Answer; notes(): string[] } {
  const log = sandbox.path('notes')
  const note = `(await import('node:fs')).appendFileSync(${JSON.stringify(log)}, what + '\\n')`
  const entry = ownServer(
    sandbox,
    `{
      put: async ({ what }) => { ${note}; return what },
      hang: async ({ what }) => { ${note}; await new Promise(() => undefined) },
    }`,
  )
  return { entry, notes: () => (sandbox.exists(log) ? sandbox.read(log).trim().split('\n') : []) }
}

test('[D16][E1] killed in the middle of a turn: nothing is lost, and nothing is done twice', async () => {
  const { sandbox } = place()
  const { entry, notes } = noting(sandbox)
  const models = await modelsFor()
  models.answer(({ text }) => {
    if (text.includes('the call may have happened')) return say('I know that I do not know.')
    return {
      kind: 'say',
      text: 'Both. ',
      uses: [
        { name: 'own_put', arguments: { what: 'once' } },
        { name: 'own_hang', arguments: { what: 'maybe' } },
      ],
    }
  })
  const config = configOf(models, 'anthropic', { servers: { own: entry } })
  const first = await up(sandbox, config, { env: ENV })
  const id = await apiOf(first).begin('Do both.')
  await until(async () => {
    const entries = await apiOf(first).entries(id)
    return notes().length === 2 && entries.some(({ role, name }) => role === 'outcome' && name === 'own_put')
  })
  // Acknowledged while the tool hangs.
  expect(
    await apiOf(first).call('POST', `/api/conversations/${id}/messages`, { text: 'And then?' }),
  ).toMatchObject({ status: 200 })
  await first.end('SIGKILL')

  const second = apiOf(await up(sandbox, config, { env: ENV }))
  const entries = await second.idle(id)
  expect(notes().sort()).toEqual(['maybe', 'once'])
  expect(entries.filter(({ role }) => role === 'user').map(({ text }) => text)).toEqual([
    'Do both.',
    'And then?',
  ])
  const outcomes = entries.filter(({ role }) => role === 'outcome')
  expect(outcomes).toMatchObject([
    { name: 'own_put', isError: false },
    { name: 'own_hang', isError: true, text: expect.stringContaining('unknown') },
  ])
  expect(entries.at(-1)).toMatchObject({ role: 'turn', reason: 'done' })
  expect(models.asked.at(-1)?.text).toContain('And then?')
  const { calls } = await second.call('GET', `/api/calls?conversation=${id}`)
  expect(calls.filter(({ tool }: Answer) => tool === 'hang')).toMatchObject([{ outcome: 'unknown' }])
  expect(await second.call('GET', '/api/usage/verify')).toMatchObject({ ok: true })
})

test('[D16][E1] killed again and again at any moment: each thing is done at most once, and every message is answered', {
  timeout: 120_000,
}, async () => {
  const { sandbox } = place()
  const { entry, notes } = noting(sandbox)
  const models = await modelsFor()
  // Puts what the last message asks for, unless it was told an outcome of that.
  models.answer(({ text, body }) => {
    const asked = [...text.matchAll(/thing-\d+/g)].map(([it]) => it)
    const last = JSON.stringify((body['messages'] as Answer[]).at(-1))
    const what = asked.at(-1) ?? 'nothing'
    return last.includes('tool_result') ? say(`${what} it is.`) : use('own_put', { what })
  })
  const config = configOf(models, 'anthropic', { servers: { own: entry } })
  let gateway = await up(sandbox, config, { env: ENV })
  const { id } = await apiOf(gateway).call('POST', '/api/conversations', {})
  const said: string[] = []
  for (let count = 0; count < 6; count++) {
    const text = `thing-${count}`
    const before = notes().length
    const asked = models.asked.length
    await apiOf(gateway).call('POST', `/api/conversations/${id}/messages`, { text })
    said.push(text)
    // At another moment each time: at once, when the model is asked, when the tool was called.
    const moments = [() => true, () => models.asked.length > asked, () => notes().length > before]
    await until(moments[count % 3] ?? (() => true))
    await gateway.end('SIGKILL')
    gateway = await up(sandbox, config, { env: ENV })
    await apiOf(gateway).idle(id)
  }
  const entries = await apiOf(gateway).entries(id)
  expect(entries.filter(({ role }) => role === 'user').map(({ text }) => text)).toEqual(said)
  expect(new Set(notes()).size).toBe(notes().length)
  const uses = entries.flatMap(({ role, uses }) => (role === 'assistant' ? uses : []))
  const outcomes = entries.filter(({ role }) => role === 'outcome')
  expect(outcomes.map(({ id }) => id).sort()).toEqual(uses.map(({ id }: Answer) => id).sort())
  for (const { isError, text } of outcomes) if (isError) expect(text).toContain('the call may have happened')
  // Every note has its use, and every message the end of a turn behind it.
  expect(notes().length).toBeLessThanOrEqual(uses.length)
  expect(entries.at(-1)).toMatchObject({ role: 'turn', reason: 'done' })
})
