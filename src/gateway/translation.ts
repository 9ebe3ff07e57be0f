// How the tables are written that say what becomes of calls (translation-calls.ts) and of questions in the middle of them
// (translation-questions.ts), whatever eras client and server are of; and how they are read.

import { type Code, Fault } from '../base/fault.ts'
import type { Era } from '../wire/era.ts'

type Side = Era | 'either'

/** `any` state, or the `same` one afterwards, is said where it makes no difference. */
type Row<State, Event, Effect> = readonly [
  state: State | 'any',
  event: Event,
  client: Side,
  server: Side,
  next: State | 'same',
  effects: readonly Effect[],
]

/** What cannot happen, and why. */
type Never<State, Event> = readonly [
  state: State,
  events: readonly Event[],
  client: Side,
  server: Side,
  why: string,
]

export interface Table<State extends string, Event extends string, Effect> {
  readonly states: readonly State[]
  readonly events: readonly Event[]
  readonly rows: readonly Row<State, Event, Effect>[]
  readonly never: readonly Never<State, Event>[]
}

export interface Step<State, Effect> {
  readonly next: State
  readonly effects: readonly Effect[]
}

export interface Eras {
  readonly client: Era
  readonly server: Era
}

/** The client is told no. */
export interface Refusal {
  readonly refuse: Code
  readonly why: string
  readonly hint?: string
}

/** What is to be done. What cannot happen is a bug, and thrown as one. */
export function step<State extends string, Event extends string, Effect>(
  { rows, never }: Table<State, Event, Effect>,
  state: State,
  event: Event,
  eras: Eras,
): Step<State, Effect> {
  const row = rows.find((it) => (it[0] === state || it[0] === 'any') && it[1] === event && fits(it, eras))
  if (row) return { next: row[4] === 'same' ? state : row[4], effects: row[5] }
  const why = never.find((it) => it[0] === state && it[1].includes(event) && fits(it, eras))?.[4]
  throw new Error(
    `${event} cannot come when it is ${state} (${eras.client} client): ${why ?? 'nobody knows'}`,
  )
}

export function refusal({ refuse, why, hint }: Refusal): Fault {
  return new Fault(refuse, why, hint === undefined ? {} : { hint })
}

// --- internal ---

function fits(row: readonly [unknown, unknown, Side, Side, ...unknown[]], { client, server }: Eras): boolean {
  return (row[2] === client || row[2] === 'either') && (row[3] === server || row[3] === 'either')
}
