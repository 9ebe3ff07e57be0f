import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Era } from '../wire/era.ts'
import { type Eras, refusal, type Step, step, type Table } from './translation.ts'
import { CALLS, type CallEffect, type CallEvent, type CallState } from './translation-calls.ts'
import {
  QUESTIONS,
  type QuestionEffect,
  type QuestionEvent,
  type QuestionState,
  SERVERS,
} from './translation-questions.ts'

const COMBINATIONS: readonly Eras[] = (['legacy', 'modern'] as const).flatMap((client) =>
  (['legacy', 'modern'] as const).map((server) => ({ client, server })),
)

/** Every row and every impossible case that a case is about. */
function linesFor<State extends string, Event extends string>(
  { rows, never }: Table<State, Event, unknown>,
  state: State,
  event: Event,
  { client, server }: Eras,
): unknown[] {
  const isFor = (side: Era | 'either', era: Era) => side === 'either' || side === era
  return [
    ...rows.filter((it) => (it[0] === state || it[0] === 'any') && it[1] === event),
    ...never.filter((it) => it[0] === state && it[1].includes(event)),
  ].filter((it) => isFor(it[2], client) && isFor(it[3], server))
}

const TABLES = { CALLS, QUESTIONS, SERVERS } as Record<string, Table<string, string, unknown>>

for (const [name, table] of Object.entries(TABLES)) {
  test(`[C1] ${name}: every case of every combination stands in exactly one line`, () => {
    for (const eras of COMBINATIONS)
      for (const state of table.states)
        for (const event of table.events) {
          const about = [state, event, eras.client, eras.server]
          expect([...about, linesFor(table, state, event, eras).length]).toEqual([...about, 1])
        }
  })

  for (const [state, event, client, server, next, effects] of table.rows)
    test(`[C1] ${name}: ${client} client, ${server} server, ${state}: ${event}`, () => {
      const fitting = COMBINATIONS.filter(
        (eras) => [eras.client, 'either'].includes(client) && [eras.server, 'either'].includes(server),
      )
      for (const from of state === 'any' ? table.states : [state])
        for (const eras of fitting)
          expect(step(table, from, event, eras)).toEqual({ next: next === 'same' ? from : next, effects })
    })

  for (const [state, events, client, server, why] of table.never)
    test(`[C1] ${name}: ${client} client, ${server} server, ${state}: ${events[0]} … cannot come, because ${why}`, () => {
      const eras = COMBINATIONS.find(
        (it) => [it.client, 'either'].includes(client) && [it.server, 'either'].includes(server),
      )
      for (const event of events) expect(() => step(table, state, event, eras as Eras)).toThrow(why)
    })
}

test('[C11] whatever is wrong with a requestState, the client is told so and the call stays as it is', () => {
  const told = (event: CallEvent) => {
    const { next, effects } = step(CALLS, 'parked', event, { client: 'modern', server: 'legacy' })
    expect(next).toBe('parked')
    return effects.map((effect) => (typeof effect === 'object' ? refusal(effect).code : effect))
  }
  for (const event of CALLS.events.filter((it) => / state$| request$/.test(it)))
    expect([event, told(event)]).toEqual([event, ['REQUEST_STATE_INVALID']])
})

/** What reaches the client as the answer to a request of its. */
const isAnswer = (effect: CallEffect) =>
  ['answer', 'fail', 'hand over', 'ask in the answer'].includes(effect as string)

interface World {
  state: CallState
  /** Requests of the client that wait for an answer. */
  waiting: number
  /** Whether a requestState is out that nobody came back with. */
  handle: boolean
  /** Whether the server has nothing to do about it. */
  serverDone: boolean
  cancelled: boolean
}

/** Which events the outside can make in a world; everything else would be a bug of the shell. */
function possible({ state, serverDone, handle }: World, event: CallEvent, { client, server }: Eras): boolean {
  if (event.startsWith('begins')) return state === 'new' && (client === 'modern' || event === 'begins')
  if (event.startsWith('comes back')) {
    if (client === 'legacy') return false
    if (event === 'comes back') return handle
    if (event === 'comes back to nothing') return state === 'new'
    return true
  }
  if (state === 'new') return false
  if (event === 'time is over') return handle
  if (event === 'gives way') return handle && !serverDone
  if (event === 'question in the answer' && server === 'legacy') return false
  return ['question in the answer', 'answer', 'failure'].includes(event) ? !serverDone : true
}

test('[C1] no sequence of events answers twice, resumes twice, or leaves a call under way after its end', () => {
  const events = fc.array(fc.constantFrom(...CALLS.events), { maxLength: 40 })
  fc.assert(
    fc.property(fc.constantFrom(...COMBINATIONS), events, (eras, sequence) => {
      const world: World = { state: 'new', waiting: 0, handle: false, serverDone: true, cancelled: false }
      for (const event of sequence) {
        if (!possible(world, event, eras)) continue
        const before = world.state
        const { next, effects } = step(CALLS, before, event, eras)
        const again = effects.includes('push and ask again')
        if (event === 'begins' || event === 'comes back') world.waiting += 1
        if (effects.includes('forward')) world.serverDone = false
        if (['question in the answer', 'answer', 'failure'].includes(event)) world.serverDone = !again
        if (event === 'comes back' || next === 'ended') world.handle = false
        for (const effect of effects) {
          if (isAnswer(effect)) {
            expect(world.waiting).toBe(1)
            world.waiting -= 1
          }
          if (effect === 'ask in the answer') {
            expect(world.handle).toBe(false)
            world.handle = true
          }
          if (effect === 'resume') expect(before).toBe('parked')
          if (effect === 'cancel') {
            expect(world.cancelled).toBe(false)
            world.cancelled = true
          }
          if (typeof effect === 'object') expect([before, 'ended']).toContain(next)
        }
        world.state = next
        // Over is over.
        if (before === 'ended') expect(next).toBe('ended')
        // Whoever waits has a call that will still say something; and what is parked has nobody who waits.
        expect(world.waiting).toBe(next === 'under way' || next === 'cancelled' ? 1 : 0)
        expect(world.handle).toBe(next === 'parked' || next === 'kept')
        // Nothing stays at work in a server after its end.
        if (next === 'ended') expect(world.serverDone || world.cancelled).toBe(true)
        if (eras.client === 'legacy') expect(['parked', 'kept']).not.toContain(next)
      }
    }),
    { numRuns: 2000 },
  )
})

test('[C1] a question is shown before it is answered, and its server hears exactly one thing', () => {
  const events = fc.array(fc.constantFrom(...QUESTIONS.events), { maxLength: 20 })
  fc.assert(
    fc.property(fc.constantFrom(...COMBINATIONS), events, (eras, sequence) => {
      let state: QuestionState = 'put'
      let shown = false
      let told = 0
      const isPossible = (event: QuestionEvent) => {
        const [line] = linesFor(QUESTIONS, state, event, eras) as (readonly unknown[])[]
        return line?.length === 6
      }
      for (const event of sequence) {
        if (!isPossible(event)) continue
        const { next, effects }: Step<QuestionState, QuestionEffect> = step(QUESTIONS, state, event, eras)
        for (const effect of effects) {
          if (effect === 'push' || effect === 'put in the answer') shown = true
          else if (effect === 'take back') expect([shown, eras.client]).toEqual([true, 'legacy'])
          else told += 1
          if (effect === 'take to the server') expect(shown).toBe(true)
        }
        state = next
        expect(told).toBe(state === 'over' ? 1 : 0)
      }
    }),
    { numRuns: 2000 },
  )
})
