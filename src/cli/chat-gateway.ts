// A conversation with the agent of the running gateway, over its socket.

import { type IncomingMessage, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { WholeConversation } from '../agent/conversation.ts'
import type { ConversationEvent } from '../agent/events.ts'
import { Fault } from '../base/fault.ts'
import { gatewaySocket, type Places } from '../base/places.ts'
import { isRecord } from '../base/record.ts'
import type { ApprovalView } from '../call/approval-view.ts'
import type { Answer } from '../gateway/api-types.ts'
import { EventReader } from '../wire/events.ts'
import type { ChatEvent, ChatLine, Listener } from './chat-line.ts'
import { askGateway } from './gateway-client.ts'
import type { Loaded, Session } from './session.ts'

export async function withGatewayLine(
  { signal }: Session,
  { active }: Loaded,
  listener: Listener,
  work: (line: ChatLine) => Promise<void>,
): Promise<void> {
  const stop = new AbortController()
  const { places } = active
  // Before the first word, or its answer could be missed.
  const hearing = await hear(places, listener, AbortSignal.any([signal, stop.signal]))
  try {
    await work(lineOf(places, signal))
  } finally {
    stop.abort()
    await hearing.over
  }
}

// --- internal ---

function lineOf(places: Places, signal: AbortSignal): ChatLine {
  const ask = <T extends object>(method: 'GET' | 'POST', path: string, body?: object) =>
    // Also when somebody asked to end: the turn is still to be stopped.
    askGateway<T>(places, {
      method,
      path,
      signal: signal.aborted ? AbortSignal.timeout(5_000) : signal,
      body: body && JSON.stringify(body),
    })
  const conversation = (id: string) => `/api/conversations/${encodeURIComponent(id)}`
  return {
    outlives: true,
    prepare: async () => {},
    create: (agent) =>
      ask<Answer<'POST /api/conversations'>>(
        'POST',
        '/api/conversations',
        agent === undefined ? {} : { agent },
      ),
    list: async (before) => {
      const query = new URLSearchParams({ limit: '1000', ...(before === undefined ? {} : { before }) })
      const path = `/api/conversations?${query}`
      return (await ask<Answer<'GET /api/conversations'>>('GET', path)).conversations
    },
    get: async (id) => (await ask<{ conversation: WholeConversation }>('GET', conversation(id))).conversation,
    post: async (id, text) => void (await ask('POST', `${conversation(id)}/messages`, { text })),
    stop: async (id) => void (await ask('POST', `${conversation(id)}/stop`)),
    tools: async (agent) => {
      const path = `/api/tools?${new URLSearchParams({ agent })}`
      const { tools } = await ask<Answer<'GET /api/tools'>>('GET', path)
      return tools.map(({ address, description }) => ({ name: address, description }))
    },
    energy: async (agent) => {
      const { agents } = await ask<Answer<'GET /api/energy'>>('GET', '/api/energy')
      return agents.find((energy) => energy.agent === agent)
    },
    approval: async (id) =>
      (await ask<{ approval: ApprovalView }>('GET', `/api/approvals/${encodeURIComponent(id)}`)).approval,
    answer: async (id, answer) =>
      void (await ask('POST', `/api/approvals/${encodeURIComponent(id)}`, { ...answer, by: 'terminal' })),
  }
}

/** Resolves when events come; `over` does when they come no more. */
async function hear(
  places: Places,
  listener: Listener,
  signal: AbortSignal,
): Promise<{ readonly over: Promise<void> }> {
  const reader = new EventReader(LARGEST, {
    event: ({ event, data }) => {
      const told = eventOf(event, data)
      if (told) listener(told)
    },
    oversized: () => listener({ type: 'reset' }),
  })
  const first = await openStream(places, reader.lastId, signal)
  const go = async () => {
    let stream: IncomingMessage | undefined = first
    for (let failures = 0; !signal.aborted; ) {
      try {
        stream ??= await openStream(places, reader.lastId, signal)
        failures = 0
        for await (const chunk of stream) reader.push(chunk)
      } catch (error) {
        if (signal.aborted) return
        failures += 1
        if (failures > MOST_FAILURES) {
          listener({ type: 'lost', fault: lost(error) })
          return
        }
      }
      stream = undefined
      // What was missed comes with the next one.
      await sleep(PAUSE, undefined, { signal }).catch(() => undefined)
    }
  }
  return { over: go() }
}

const LARGEST = 16 * 1024 * 1024
const MOST_FAILURES = 5
const PAUSE = 300

function openStream(
  places: Places,
  lastId: string | undefined,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const asked = request({
      socketPath: gatewaySocket(places),
      path: '/api/events',
      signal,
      headers: { host: 'localhost', ...(lastId === undefined ? {} : { 'last-event-id': lastId }) },
    })
    asked.on('error', reject)
    asked.on('response', (response) => {
      if (response.statusCode === 200) resolve(response)
      else {
        response.destroy()
        reject(
          new Fault('GATEWAY_LIMIT', `the gateway answered ${response.statusCode} instead of its events`),
        )
      }
    })
    asked.end()
  })
}

/** The gateway is this very program, so what it sends is what the types say. */
function eventOf(type: string, data: Buffer): ChatEvent | undefined {
  if (type === 'reset') return { type }
  if (type !== 'conversation' && type !== 'approval') return undefined
  const value: unknown = JSON.parse(data.toString('utf8'))
  if (!isRecord(value)) return undefined
  if (type === 'conversation') return { type, ...value } as unknown as ConversationEvent
  const { approval } = value as unknown as { approval: ApprovalView }
  return { type, id: approval.id, status: approval.status }
}

function lost(cause: unknown): Fault {
  return new Fault('GATEWAY_ABSENT', 'the gateway went away', {
    hint: 'the conversation is kept; start the gateway again: busbar up',
    cause,
  })
}
