// What becomes of a request on its way between the eras: every case, as a table. parking.ts, parked-call.ts, pass.ts and
// inputs.ts carry out what it says.

import type { Refusal, Table } from './translation.ts'

/** One request of a client to one server. */
export type CallState = (typeof CALL_STATES)[number]
export type CallEvent = (typeof CALL_EVENTS)[number]

export type CallEffect =
  /** The request goes to the server. */
  | 'forward'
  /** The client is answered: what it is asked, and what to come back with. */
  | 'ask in the answer'
  /** What the server asks in its answer is put to the client one by one, and the server is asked again with that. */
  | 'push and ask again'
  /** The client gets what the server answered. */
  | 'answer'
  /** The client is told why there is no answer. */
  | 'fail'
  /** What the server answered, or why it did not, waits for the client. */
  | 'keep'
  /** The client gets what was kept for it. */
  | 'hand over'
  /** The client waits again, and what it brought goes to the server. */
  | 'resume'
  /** The server is told that nobody can be asked. */
  | 'decline question'
  /** The server is told that nobody wants its answer any more. */
  | 'cancel'
  /** Nobody hears of it. */
  | 'drop'
  | Refusal

/** As many may be parked for one agent. */
export const MOST_PARKED = 256

const CALL_STATES = [
  /** Read, and nothing done about it yet. */
  'new',
  /** The client waits for its answer. */
  'under way',
  /** The client waits, and wants no answer any more. */
  'cancelled',
  /** The client was asked in an answer; nobody waits, and the server does. */
  'parked',
  /** The same, and the server is through with it. */
  'kept',
  'ended',
] as const

const CALL_EVENTS = [
  'begins',
  /** And as many of its agent are parked as may be. */
  'begins as one too many',
  /** Somebody asks in the middle of it: a legacy server, or Busbar, for a person's approval. */
  'question',
  /** A modern server answers with questions. */
  'question in the answer',
  'answer',
  /** The server died or was late, or it may not be called. */
  'failure',
  /** A modern client asks again with the requestState it was given last. */
  'comes back',
  'comes back with a forged state',
  "comes back with somebody else's state",
  'comes back with the state of another request',
  'comes back with an expired state',
  'comes back with a used state',
  'comes back to what gave way',
  /** With one of ours, of a call that nobody here knows: of an earlier life of the gateway, for example. */
  'comes back to nothing',
  /** The connection of its request ends. */
  'client leaves',
  /** By the notification. */
  'client cancels',
  /** Nobody came back in time. */
  'time is over',
  /** Nobody came back, and others wait for the server. */
  'gives way',
  /** The session ends, or the gateway. */
  'end for good',
] as const

const RETURNS = CALL_EVENTS.filter((event) => event.startsWith('comes back'))
const TIMES = ['time is over', 'gives way'] as const
const ENDINGS = ['client leaves', 'client cancels', ...TIMES, 'end for good'] as const
const STARTS = ['begins', 'begins as one too many'] as const
const OUTCOMES = ['question in the answer', 'answer', 'failure'] as const

const invalid = (why: string): Refusal => ({
  refuse: 'REQUEST_STATE_INVALID',
  why: `requestState ${why}`,
  hint: 'make the call anew, without it',
})

const FULL: Refusal = {
  refuse: 'GATEWAY_LIMIT',
  why: `${MOST_PARKED} calls wait for answers of this agent's client`,
}

const LOST: Refusal = {
  refuse: 'CONNECTION_LOST',
  why: 'this call is not waited for any more; whether it was done is not known',
  hint: 'look before you make it again',
}

// biome-ignore format: it is a table
export const CALLS: Table<CallState, CallEvent, CallEffect> = {
  states: CALL_STATES,
  events: CALL_EVENTS,
  rows: [
    ['new',       'begins',                 'either', 'either', 'under way', ['forward']],
    ['new',       'begins as one too many', 'modern', 'either', 'ended',     [FULL]],

    // A legacy client is asked while it waits. A modern one is asked by being answered.
    ['under way', 'question',               'legacy', 'either', 'same',      []],
    ['under way', 'question',               'modern', 'either', 'parked',    ['ask in the answer']],
    ['under way', 'question in the answer', 'legacy', 'modern', 'same',      ['push and ask again']],
    ['under way', 'question in the answer', 'modern', 'modern', 'ended',     ['answer']],
    ['under way', 'answer',                 'either', 'either', 'ended',     ['answer']],
    ['under way', 'failure',                'either', 'either', 'ended',     ['fail']],
    // A legacy client that lost its connection may come back for the answer. A modern one has cancelled by that.
    ['under way', 'client leaves',          'legacy', 'either', 'same',      []],
    ['under way', 'client leaves',          'modern', 'either', 'cancelled', ['cancel']],
    ['under way', 'client cancels',         'either', 'either', 'cancelled', ['cancel']],
    ['under way', 'end for good',           'either', 'either', 'cancelled', ['cancel']],

    ['cancelled', 'question',               'either', 'either', 'same',      ['decline question']],
    ['cancelled', 'question in the answer', 'legacy', 'modern', 'ended',     ['fail']],
    ['cancelled', 'question in the answer', 'modern', 'modern', 'ended',     ['answer']],
    // It was faster.
    ['cancelled', 'answer',                 'either', 'either', 'ended',     ['answer']],
    ['cancelled', 'failure',                'either', 'either', 'ended',     ['fail']],
    ['cancelled', 'client leaves',          'either', 'either', 'same',      []],
    ['cancelled', 'client cancels',         'either', 'either', 'same',      []],
    ['cancelled', 'end for good',           'either', 'either', 'same',      []],

    // It is put with the others when the client comes back.
    ['parked',    'question',               'modern', 'either', 'same',      []],
    // The server took its question back, or died; or a person answered elsewhere and the call went on.
    ['parked',    'question in the answer', 'modern', 'modern', 'kept',      ['keep']],
    ['parked',    'answer',                 'modern', 'either', 'kept',      ['keep']],
    ['parked',    'failure',                'modern', 'either', 'kept',      ['keep']],
    ['parked',    'comes back',             'modern', 'either', 'under way', ['resume']],
    // On a line it goes for good; over HTTP, before it could read what to come back with.
    ['parked',    'client leaves',          'modern', 'either', 'ended',     ['cancel']],
    ['parked',    'client cancels',         'modern', 'either', 'ended',     ['cancel']],
    ['parked',    'time is over',           'modern', 'either', 'ended',     ['cancel']],
    ['parked',    'gives way',              'modern', 'either', 'ended',     ['cancel']],
    ['parked',    'end for good',           'modern', 'either', 'ended',     ['cancel']],

    ['kept',      'question',               'modern', 'either', 'same',      ['decline question']],
    ['kept',      'comes back',             'modern', 'either', 'ended',     ['hand over']],
    ['kept',      'client leaves',          'modern', 'either', 'ended',     ['drop']],
    ['kept',      'client cancels',         'modern', 'either', 'ended',     ['drop']],
    ['kept',      'time is over',           'modern', 'either', 'ended',     ['drop']],
    ['kept',      'end for good',           'modern', 'either', 'ended',     ['drop']],

    ['ended',     'question',               'either', 'either', 'same',      ['decline question']],
    ['ended',     'question in the answer', 'either', 'modern', 'same',      ['drop']],
    ['ended',     'answer',                 'either', 'either', 'same',      ['drop']],
    ['ended',     'failure',                'either', 'either', 'same',      ['drop']],
    ['ended',     'client leaves',          'either', 'either', 'same',      []],
    ['ended',     'client cancels',         'either', 'either', 'same',      []],
    ['ended',     'end for good',           'either', 'either', 'same',      []],

    // Whatever a client comes back with that is not right: it is refused, and the call it speaks of stays as it is.
    ['any', 'comes back with a forged state',               'modern', 'either', 'same', [invalid('was not made here')]],
    ['any', "comes back with somebody else's state",        'modern', 'either', 'same', [invalid("is somebody else's")]],
    ['any', 'comes back with the state of another request', 'modern', 'either', 'same', [invalid('belongs to another request')]],
    ['any', 'comes back with an expired state',             'modern', 'either', 'same', [invalid('has expired')]],
    ['any', 'comes back with a used state',                 'modern', 'either', 'same', [invalid('was used already')]],
    ['any', 'comes back to what gave way',                  'modern', 'either', 'same', [invalid('is of a call that was given up, because others waited for its server')]],
    ['new', 'comes back to nothing',                        'modern', 'either', 'same', [LOST]],
  ],
  never: [
    ['new',       [...OUTCOMES, ...ENDINGS, 'question'],               'either', 'either', 'nothing was done about it yet'],
    ['new',       ['comes back'],                                      'modern', 'either', 'there is a call that it comes back to'],
    ['under way', [...STARTS, ...TIMES],                               'either', 'either', 'it has begun, and the server’s deadlines come as failures'],
    ['under way', ['comes back', 'comes back to nothing'],             'modern', 'either', 'the state that it was given is used'],
    ['under way', ['question in the answer'],                          'either', 'legacy', 'a legacy server asks in the middle'],
    ['cancelled', [...STARTS, ...TIMES],                               'either', 'either', 'it has begun, and nothing is waited for'],
    ['cancelled', ['comes back', 'comes back to nothing'],             'modern', 'either', 'the state that it was given is used'],
    ['cancelled', ['question in the answer'],                          'either', 'legacy', 'a legacy server asks in the middle'],
    ['parked',    [...STARTS, 'comes back to nothing'],                'modern', 'either', 'it is known here'],
    ['parked',    ['question in the answer'],                          'modern', 'legacy', 'a legacy server asks in the middle'],
    ['parked',    [...STARTS, ...OUTCOMES, ...ENDINGS, 'question'],    'legacy', 'either', 'a legacy client is asked while it waits'],
    ['kept',      [...STARTS, ...OUTCOMES, 'comes back to nothing'],   'modern', 'either', 'the server is through with it'],
    ['kept',      ['gives way'],                                       'modern', 'either', 'nobody waits for what the server is through with'],
    ['kept',      [...STARTS, ...OUTCOMES, ...ENDINGS, 'question'],    'legacy', 'either', 'a legacy client is asked while it waits'],
    ['ended',     [...STARTS, ...TIMES],                               'either', 'either', 'it is over'],
    ['ended',     ['comes back', 'comes back to nothing'],             'modern', 'either', 'the state that it was given is used'],
    ['ended',     ['question in the answer'],                          'either', 'legacy', 'a legacy server asks in the middle'],
    ['new',       ['begins as one too many'],                          'legacy', 'either', 'nothing of a legacy client is parked'],
    ...CALL_STATES.map((state) => [state, RETURNS, 'legacy', 'either', 'a legacy client has no requestState of ours'] as const),
  ],
}
