import { expect, test } from 'vitest'
import type { WholeConversation } from '../agent/conversation.ts'
import type { Entry, Turn } from '../agent/entries.ts'
import type { ConversationEvent } from '../agent/events.ts'
import type { ChatText } from './chat-input.ts'
import type { ChatLine } from './chat-line.ts'
import { ChatRoom } from './chat-room.ts'
import type { Session } from './session.ts'

const TURN: Turn = {
  reason: 'done',
  rounds: 1,
  tokens: { input: 0, output: 0 },
  energy: 0,
  models: [],
  compactions: 0,
  startedAt: 0,
  endedAt: 0,
  seen: 1,
}

function conversation(more: Partial<WholeConversation> = {}): WholeConversation {
  return { id: 'c', agent: 'ada', createdAt: 0, updatedAt: 0, status: 'idle', messages: [], ...more }
}

/** Somebody at a conversation whose other end is in the test's hands; `types` are the lines they type. */
function rig({ terminal = true, begun }: { terminal?: boolean; begun?: WholeConversation | undefined } = {}) {
  const written: string[] = []
  const done: string[] = []
  const prompts: (string | undefined)[] = []
  let kept = begun ?? conversation()
  const lines: (ChatText | undefined)[] = []
  let hand: ((line: ChatText | undefined) => void) | undefined
  const line = {
    outlives: true,
    create: async () => {
      done.push('create')
      return { id: 'c', agent: 'ada' }
    },
    get: async () => kept,
    post: async (id: string, text: string) => void done.push(`post ${id} ${text}`),
    energy: async () => undefined,
    approval: async (id: string) => ({
      id,
      agent: 'ada',
      address: 'pay',
      status: 'pending',
      expiresAt: Date.now() + 60_000,
      arguments: '{}',
    }),
    answer: async (id: string, { decision }: { decision: string }) => void done.push(`${decision} ${id}`),
  }
  const out = {
    json: false,
    raw: (text: string) => void written.push(text),
    note: (text: string) => void written.push(text),
    style: (_: string, text: string) => text,
    fail: (error: Error) => void written.push(error.message),
  }
  const room = new ChatRoom({
    // As much of them as a room uses.
    session: { signal: new AbortController().signal, out } as unknown as Session,
    line: line as unknown as ChatLine,
    conversation: begun,
    agent: undefined,
    likely: 'ada',
    terminal,
  })
  const talking = room.talk({
    next: () => {
      if (lines.length > 0) return Promise.resolve(lines.shift())
      return new Promise((resolve) => (hand = resolve))
    },
    prompt: (_, about) => void prompts.push(about),
    hide: () => {},
    close: () => {},
  })
  const tell = (event: Omit<ConversationEvent, 'type' | 'id' | 'agent'>) =>
    room.tell({ type: 'conversation', id: 'c', agent: 'ada', ...event } as ConversationEvent)
  return {
    room,
    talking,
    tell,
    done,
    written,
    prompts,
    keep: (next: WholeConversation) => (kept = next),
    type: (line: ChatText | undefined) => {
      if (hand === undefined) lines.push(line)
      else hand(line)
      hand = undefined
    },
    shows: (text: string) => expect.poll(() => written.join('\n')).toContain(text),
  }
}

const WAITING: Entry = { role: 'waiting', seq: 2, at: 0, use: 'u', approval: 'q1' }

test('what was missed is caught up with: texts, questions, and the end of the turn', async () => {
  const { room, tell, type, talking, keep, shows, done, prompts } = rig({ begun: conversation() })
  tell({ kind: 'turn-start' } as never)
  const said: Entry = { role: 'said', seq: 1, at: 0, text: 'soon', from: 'elsewhere' }
  keep(conversation({ status: 'working', messages: [said, WAITING] }))
  room.tell({ type: 'reset' })
  await shows('from conversation lsewhere:\nsoon')
  await expect.poll(() => prompts.at(-1)).toBe('q1')
  type({ text: 'y', about: 'q1' })
  await expect.poll(() => done).toContain('allow q1')
  // The end came before something that was shown already.
  tell({ kind: 'said', seq: 4, text: 'later' } as never)
  keep(
    conversation({ messages: [said, WAITING, { role: 'turn', seq: 3, at: 0, ...TURN, reason: 'rounds' }] }),
  )
  room.tell({ type: 'reset' })
  await shows('stopped after many rounds')
  keep(conversation({ status: 'ended' }))
  room.tell({ type: 'reset' })
  await talking
})

test('an answer is for the question it was typed under, and a line without one is said', async () => {
  const { room, tell, type, talking, done, prompts, shows } = rig({ begun: conversation() })
  tell({ kind: 'turn-start' } as never)
  for (const approval of ['q1', 'q2']) tell({ kind: 'approval', use: 'u', approval } as never)
  await expect.poll(() => prompts.at(-1)).toBe('q1')
  // Somebody else answers the first one just before the line is ended.
  room.tell({ type: 'approval', id: 'q1', status: 'denied' })
  await expect.poll(() => prompts.at(-1)).toBe('q2')
  type({ text: 'y', about: 'q1' })
  await shows('answered already')
  type({ text: 'y' })
  await expect.poll(() => done).toEqual(['post c y'])
  type({ text: 'n', about: 'q2' })
  await expect.poll(() => done).toEqual(['post c y', 'deny q2'])
  tell({ kind: 'ended' } as never)
  await talking
})

test('what was told while the conversation was read is heard once, and its end is not missed', async () => {
  const messages: Entry[] = [{ role: 'said', seq: 7, at: 0, text: 'once' }]
  const { tell, type, talking, written } = rig({
    terminal: false,
    begun: conversation({ status: 'working', messages }),
  })
  tell({ kind: 'said', seq: 7, text: 'once' } as never)
  tell({ kind: 'said', seq: 8, text: 'new' } as never)
  tell({ kind: 'turn-end', turn: TURN } as never)
  // Piped input is read on when the turn is over, and here ends with it.
  type(undefined)
  await talking
  expect(written.join('')).toContain('new')
  expect(written.join('')).not.toContain('once')
})

test('a conversation is begun with the first thing that is said', async () => {
  const { tell, type, talking, done } = rig()
  expect(done).toEqual([])
  type({ text: '/help' })
  type({ text: 'hello' })
  await expect.poll(() => done).toEqual(['create', 'post c hello'])
  type({ text: 'more' })
  await expect.poll(() => done).toEqual(['create', 'post c hello', 'post c more'])
  tell({ kind: 'ended' } as never)
  await talking
})
