// Calls that are parked, as they run: no sequence of what servers and clients may do shows a question to somebody else,
// answers twice or goes on twice.

import fc from 'fast-check'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Stopper } from '../base/stop.ts'
import { requestOf } from '../wire/message.ts'
import { type End, PATIENCE, parkedCall, parking, Server, SHORT, settled, Visit } from './test-parking.ts'
import { MOST_PARKED } from './translation-calls.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
})
afterEach(() => {
  vi.useRealTimers()
})

test('[C11] a state is good for its agent, its request, its time and one use', async () => {
  const { lot, server, visit } = await parkedCall()
  const code = (agent: string, more: object, at = lot) => new Visit(at, agent, more).code
  expect(code('bob', visit.again)).toBe('REQUEST_STATE_INVALID')
  expect(code('ada', { ...visit.again, arguments: { more: 1 } })).toBe('REQUEST_STATE_INVALID')
  expect(code('ada', visit.again, parking('another secret'))).toBe('REQUEST_STATE_INVALID')
  // A gateway that was started anew has the key, and not the call.
  expect(code('ada', visit.again, parking())).toBe('CONNECTION_LOST')
  const back = new Visit(lot, 'ada', visit.again)
  await settled()
  expect(server.heard).toHaveLength(1)
  expect(code('ada', visit.again)).toBe('REQUEST_STATE_INVALID')
  server.answers()
  await settled()
  expect(back.ends).toMatchObject([{ reached: { era: 'legacy' } }])
  expect(code('ada', visit.again)).toBe('REQUEST_STATE_INVALID')
  expect(vi.getTimerCount()).toBe(0)
})

test('[C11] a call that nobody comes back for is cancelled when its time is over, and who comes then is told so', async () => {
  const { lot, server, visit } = await parkedCall()
  vi.advanceTimersByTime(PATIENCE - 1)
  expect(visit.call?.state).toBe('parked')
  vi.advanceTimersByTime(1)
  expect(visit.call?.state).toBe('ended')
  await settled()
  expect(server.call?.stop.aborted).toBe(true)
  expect(server.heard).toMatchObject([{ given: { error: { message: 'the client did not answer in time' } } }])
  const late = new Visit(lot, 'ada', visit.again)
  expect(late.ends).toMatchObject([
    { fault: { code: 'REQUEST_STATE_INVALID', message: 'requestState has expired' } },
  ])
})

test('[C11] a call that others wait for gives way sooner, and who comes then is told why', async () => {
  const { lot, server, visit } = await parkedCall()
  vi.advanceTimersByTime(SHORT - 1)
  visit.call?.asker.awaited?.()
  expect(visit.call?.state).toBe('parked')
  vi.advanceTimersByTime(1)
  await settled()
  expect(visit.call?.state).toBe('ended')
  expect(server.call?.stop.aborted).toBe(true)
  const late = new Visit(lot, 'ada', visit.again)
  expect(late.ends).toMatchObject([
    {
      fault: {
        code: 'REQUEST_STATE_INVALID',
        message: 'requestState is of a call that was given up, because others waited for its server',
      },
    },
  ])
  expect(vi.getTimerCount()).toBe(0)
})

test('[C11] what others waited for before the question, and what the server is through with', async () => {
  const lot = parking()
  const server = new Server()
  const early = new Visit(lot, 'ada', {}, server)
  early.call?.asker.awaited?.()
  server.asks()
  await settled()
  vi.advanceTimersByTime(SHORT)
  expect(early.call?.state).toBe('ended')
  const { server: through, visit } = await parkedCall(lot)
  visit.call?.asker.awaited?.()
  through.answers()
  await settled()
  vi.advanceTimersByTime(PATIENCE - 1)
  expect(visit.call?.state).toBe('kept')
  vi.advanceTimersByTime(1)
  expect(visit.call?.state).toBe('ended')
})

test('[C11] each time a client is asked, it has the whole time', async () => {
  const { lot, server, visit } = await parkedCall()
  vi.advanceTimersByTime(PATIENCE - 1)
  const second = new Visit(lot, 'ada', visit.again)
  server.asks()
  await settled()
  vi.advanceTimersByTime(PATIENCE - 1)
  const third = new Visit(lot, 'ada', second.again)
  server.answers()
  await settled()
  expect(third.ends).toMatchObject([{ reached: { era: 'legacy' } }])
  expect(server.heard).toHaveLength(2)
})

test('[C1] what the server says while nobody waits is kept for who comes back', async () => {
  for (const [way, end] of [
    [(server: Server) => server.answers(), { reached: { era: 'legacy' } }],
    [(server: Server) => server.fails('CONNECTION_LOST'), { fault: { code: 'CONNECTION_LOST' } }],
  ] as const) {
    const { lot, server, visit } = await parkedCall()
    server.takesBack()
    way(server)
    await settled()
    expect(visit.call?.state).toBe('kept')
    const back = new Visit(lot, 'ada', visit.again)
    await settled()
    expect(back.ends).toMatchObject([end])
    expect(vi.getTimerCount()).toBe(0)
  }
})

test('[C1] a question that comes while nobody waits is put when the client comes back', async () => {
  const { lot, server, visit } = await parkedCall()
  server.asks()
  await settled()
  expect(Object.keys(visit.inputs.inputRequests)).toEqual(['q1'])
  const back = new Visit(lot, 'ada', visit.again)
  await settled()
  expect(Object.keys(back.inputs.inputRequests)).toEqual(['q2'])
  expect(server.heard.map(({ question }) => question.split(' ')[2])).toEqual(['1'])
})

test('[C1] a question that comes after the answer is put to nobody', async () => {
  const { server, visit } = await parkedCall()
  server.answers()
  await settled()
  expect(visit.call?.state).toBe('kept')
  const late = requestOf('elicitation/create', { message: 'one more thing' })
  expect(await visit.call?.asker.question(late, new Stopper())).toMatchObject({ error: { code: -32603 } })
  expect(visit.call?.inputRequests).not.toHaveProperty('q2')
})

test('[C5] as many are parked for an agent as may be, and none more; others are not held up', async () => {
  const lot = parking()
  for (let count = 0; count < MOST_PARKED; count++) await parkedCall(lot)
  expect(new Visit(lot, 'ada').code).toBe('GATEWAY_LIMIT')
  expect(new Visit(lot, 'bob').code).toBeUndefined()
  lot.close()
  expect(new Visit(lot, 'ada').code).toBeUndefined()
  expect(vi.getTimerCount()).toBe(0)
})

test('[C5] a client that leaves, in the middle or before it read what to come back with, has cancelled', async () => {
  for (const parked of [true, false]) {
    const server = new Server()
    const visit = new Visit(parking(), 'ada', {}, server)
    if (parked) server.asks()
    visit.asked.gone.abort()
    await settled()
    expect([visit.call?.state, server.call?.stop.aborted]).toEqual(['ended', true])
  }
})

const agent = fc.constantFrom('ada', 'bob')
const which = fc.nat(5)
const action = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('begin' as const), agent }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('ask' as const), which }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('take back' as const), which }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('answer' as const), which }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('fail' as const), which }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('await' as const), which }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('come back' as const), which, agent }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('come back with nothing' as const), which }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('leave' as const), which }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('wait' as const), part: fc.constantFrom(2, 1) }) },
)

test('[C11] whatever servers and clients do, nobody sees another’s question, nothing is answered or goes on twice', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 30 }), async (actions) => {
      const lot = parking()
      const servers: Server[] = []
      const visits: Visit[] = []
      const used = new Map<string, number>()
      const visit = (agent: string, more?: object, server?: Server) => {
        const made = new Visit(lot, agent, more, server)
        visits.push(made)
        return made
      }
      for (const one of actions) {
        const server = 'which' in one ? servers[one.which] : undefined
        const asking = visits.filter(({ isAsked }) => isAsked)
        const from = 'which' in one ? asking[one.which] : undefined
        if (one.do === 'begin') {
          const next = new Server()
          servers.push(next)
          visit(one.agent, {}, next)
        } else if (one.do === 'ask') server?.asks()
        else if (one.do === 'take back') server?.takesBack()
        else if (one.do === 'answer') server?.answers()
        else if (one.do === 'fail') server?.fails('CONNECTION_LOST')
        else if (one.do === 'await') server?.call?.asker.awaited?.()
        else if (one.do === 'wait') vi.advanceTimersByTime(PATIENCE / one.part)
        else if (one.do === 'leave') {
          const waits = visits.filter(({ ends }) => ends.length === 0)[one.which]
          waits?.asked.gone.abort()
        } else if (from) {
          const { again } = from
          const { requestState } = from.inputs
          const back = one.do === 'come back' ? visit(one.agent, again) : visit(from.agent, { requestState })
          // Whoever was let in is the one it was given to, and the first.
          if (back.call) {
            expect(back.agent).toBe(from.agent)
            used.set(requestState, (used.get(requestState) ?? 0) + 1)
          }
        }
        await settled()
      }
      // In the end the servers answer, and nobody comes back.
      for (const server of servers) server.answers()
      await settled()
      vi.advanceTimersByTime(PATIENCE)
      await settled()
      for (const { agent, ends, call, isAsked } of visits) {
        // Every request is answered, once.
        expect(ends).toHaveLength(1)
        if (call) expect(call.state).toBe('ended')
        if (isAsked)
          for (const { params } of Object.values(visitInputs(ends)))
            expect(params.message.startsWith(`${agent} `)).toBe(true)
      }
      for (const count of used.values()) expect(count).toBe(1)
      for (const server of servers) {
        // Each question is answered once, and with the answer to that question.
        const questions = server.heard.map(({ question }) => question)
        expect(new Set(questions).size).toBe(questions.length)
        expect(questions).toHaveLength(server.asked)
        for (const { question, given } of server.heard)
          if ('reply' in given) expect(given.reply.bytes.toString()).toContain(question)
      }
      // Nothing is waited for any more.
      expect(vi.getTimerCount()).toBe(0)
    }),
    { numRuns: 300 },
  )
})

function visitInputs(ends: readonly End[]): Record<string, { params: { message: string } }> {
  const [end] = ends
  if (end === undefined || 'fault' in end || 'reply' in end.reached) return {}
  // Written by the server above.
  return end.reached.inputRequests as never
}
