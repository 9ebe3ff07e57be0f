// Asking a running gateway as its owner.

import { request } from 'node:http'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Answer, Sandbox } from './cli.ts'
import { type Gateway, until } from './hub.ts'

export function ownerToken(sandbox: Sandbox): string {
  return sandbox.read(join(sandbox.home, '.local/state/busbar/admin-token')).trim()
}

/** A way to ask with the owner's token: the status and the answer. */
export function owner(sandbox: Sandbox, { url }: Gateway) {
  const headers = { authorization: `Bearer ${ownerToken(sandbox)}`, 'content-type': 'application/json' }
  return async (what: string, body?: unknown): Promise<{ status: number; answer: Answer }> => {
    const [method = '', path = ''] = what.split(' ')
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const response = await fetch(url + path, { method, headers, ...sent })
    return { status: response.status, answer: await response.json() }
  }
}

interface Event {
  readonly id: string
  readonly event: string
  readonly data: Answer
}

/** A stream of events that ends with the test. */
export interface EventsRead {
  readonly status: number
  readonly events: Event[]
  /** The first event from now on, or among those that came, of which this is true. */
  find(wanted: (event: Event) => boolean): Promise<Event>
  /** The id that whoever comes back would say. */
  lastId(): string
  close(): void
  readonly ended: Promise<void>
}

export async function readEvents(sandbox: Sandbox, { url }: Gateway, lastId?: string): Promise<EventsRead> {
  const headers = {
    authorization: `Bearer ${ownerToken(sandbox)}`,
    ...(lastId === undefined ? {} : { 'last-event-id': lastId }),
  }
  const asked = request(`${url}/api/events`, { headers, agent: false }).end()
  onTestFinished(() => void asked.destroy())
  return await new Promise((resolve, reject) => {
    asked.on('error', reject)
    asked.on('response', (response) => {
      asked.on('error', () => undefined)
      const events: Event[] = []
      let text = ''
      let last = ''
      response.setEncoding('utf8')
      response.on('data', (part) => {
        text += part
        for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
          const block = text.slice(0, end)
          text = text.slice(end + 2)
          const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1]
          last = field('id') ?? last
          const [event, data] = [field('event'), field('data')]
          if (event !== undefined && data !== undefined)
            events.push({ id: field('id') ?? '', event, data: JSON.parse(data) })
        }
      })
      const ended = new Promise<void>((done) => {
        response.on('error', () => undefined)
        response.on('close', () => done())
      })
      resolve({
        status: response.statusCode ?? 0,
        events,
        find: (wanted) => until(() => events.find(wanted)),
        lastId: () => last,
        close: () => void asked.destroy(),
        ended,
      })
    })
  })
}
