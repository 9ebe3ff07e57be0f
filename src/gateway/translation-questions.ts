// What becomes of a question in the middle of a request, on its way to a client of either era and of the answer on its
// way to a server of either: every case, as tables. questions.ts and inputs.ts carry out what they say.

import { ERROR } from '../wire/era.ts'
import type { Refusal, Table } from './translation.ts'

/** One thing that a client is asked, by a server or by Busbar itself. */
export type QuestionState = (typeof QUESTION_STATES)[number]
export type QuestionEvent = (typeof QUESTION_EVENTS)[number]

export type QuestionEffect =
  /** The client is asked in the middle of its request. */
  | 'push'
  /** It stands in the next answer to the client, and in each one after that until it is answered. */
  | 'put in the answer'
  /** What the client said goes to the server: see `SERVERS`. */
  | 'take to the server'
  /** The client is told that nobody wants to know any more. */
  | 'take back'
  /** The server gets an error with this code. */
  | { readonly decline: number }

const QUESTION_STATES = [
  /** Not shown to anybody: it is looked at, and for the use of a model a person is asked first. */
  'put',
  /** The client has it, or gets it with the next answer. */
  'open',
  'over',
] as const

const QUESTION_EVENTS = [
  'may be asked',
  /** The client said that it cannot, or nobody may be sent there. */
  'client cannot answer',
  /** A person did not agree. */
  'person refuses',
  /** No stream leads to the client at this moment, or its call is over. */
  'client out of reach',
  /** Accept, decline and cancel are the server's business. */
  'client answers',
  /** The client answers with an error. */
  'client fails',
  'client comes back without an answer',
  /** The server wants no answer any more, or is gone. */
  'server takes it back',
  /** It left and did not come back, or ended its session, or let the time pass. */
  'client is gone',
] as const

const ANSWERS = ['client answers', 'client fails', 'client comes back without an answer'] as const
const CHECKS = ['may be asked', 'client cannot answer', 'person refuses'] as const

// biome-ignore format: it is a table
export const QUESTIONS: Table<QuestionState, QuestionEvent, QuestionEffect> = {
  states: QUESTION_STATES,
  events: QUESTION_EVENTS,
  rows: [
    ['put',  'may be asked',                        'legacy', 'either', 'open', ['push']],
    ['put',  'may be asked',                        'modern', 'either', 'open', ['put in the answer']],
    ['put',  'client cannot answer',                'either', 'either', 'over', [{ decline: ERROR.methodNotFound }]],
    ['put',  'person refuses',                      'either', 'either', 'over', [{ decline: ERROR.internal }]],
    ['put',  'client out of reach',                 'either', 'either', 'over', [{ decline: ERROR.internal }]],
    // Nobody was shown it, so nobody needs to hear that it is over.
    ['put',  'server takes it back',                'either', 'either', 'over', [{ decline: ERROR.internal }]],
    ['put',  'client is gone',                      'either', 'either', 'over', [{ decline: ERROR.internal }]],

    ['open', 'client out of reach',                 'either', 'either', 'over', [{ decline: ERROR.internal }]],
    ['open', 'client answers',                      'either', 'either', 'over', ['take to the server']],
    ['open', 'client fails',                        'legacy', 'either', 'over', ['take to the server']],
    ['open', 'client comes back without an answer', 'modern', 'either', 'same', ['put in the answer']],
    ['open', 'server takes it back',                'legacy', 'either', 'over', ['take back', { decline: ERROR.internal }]],
    ['open', 'server takes it back',                'modern', 'either', 'over', [{ decline: ERROR.internal }]],
    ['open', 'client is gone',                      'either', 'either', 'over', [{ decline: ERROR.internal }]],

    // Whatever comes too late is taken, and means nothing.
    ['over', 'may be asked',                        'either', 'either', 'same', []],
    ['over', 'person refuses',                      'either', 'either', 'same', []],
    ['over', 'client out of reach',                 'either', 'either', 'same', []],
    ['over', 'client answers',                      'either', 'either', 'same', []],
    ['over', 'client fails',                        'legacy', 'either', 'same', []],
    ['over', 'server takes it back',                'either', 'either', 'same', []],
    ['over', 'client is gone',                      'either', 'either', 'same', []],
  ],
  never: [
    ['put',  ANSWERS,                                 'either', 'either', 'nobody was asked'],
    ['open', CHECKS,                                  'either', 'either', 'it was looked at already'],
    ['open', ['client comes back without an answer'], 'legacy', 'either', 'a legacy client answers questions one by one'],
    ['open', ['client fails'],                        'modern', 'either', 'a modern client brings results, or nothing'],
    ['over', ['client fails'],                        'modern', 'either', 'a modern client brings results, or nothing'],
    ['over', ['client cannot answer'],                'either', 'either', 'that is known before anything else'],
    ['over', ['client comes back without an answer'], 'either', 'either', 'it is asked no more'],
  ],
}

/** What a client said, at the server that wanted to know: the last step of a question. */
export type ServerEffect = 'respond' | 'ask again with it' | Refusal

// biome-ignore format: it is a table
export const SERVERS: Table<'waits', 'result' | 'error', ServerEffect> = {
  states: ['waits'],
  events: ['result', 'error'],
  rows: [
    ['waits', 'result', 'either', 'legacy', 'same', ['respond']],
    ['waits', 'error',  'either', 'legacy', 'same', ['respond']],
    ['waits', 'result', 'legacy', 'modern', 'same', ['ask again with it']],
    // Where answers to questions stand in the next request there is no place for an error.
    ['waits', 'error',  'legacy', 'modern', 'same', [{ refuse: 'NOT_SUPPORTED', why: 'the server wants to know something, and the client cannot answer' }]],
  ],
  never: [
    ['waits', ['result', 'error'], 'modern', 'modern', 'they speak with each other'],
  ],
}
