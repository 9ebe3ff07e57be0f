// Hubs with a scripted agent for tests.

import { createRequire } from 'node:module'
import type { ScriptStep } from '../../src/agent/scripted.ts'
import { scriptedModel } from '../../src/agent/scripted.ts'
import type { ConversationEvent, Entry, Models } from '../../src/index.ts'
import { type Hub, until } from './hub.ts'

const require = createRequire(import.meta.url)

/** Servers that others wrote. */
export const FILESYSTEM = require.resolve('@modelcontextprotocol/server-filesystem/dist/index.js')
export const MEMORY = require.resolve('@modelcontextprotocol/server-memory/dist/index.js')

export function official(file: string, ...args: string[]): { command: string; args: string[] } {
  return { command: process.execPath, args: [file, ...args] }
}

/** The same script for both sizes, which are told apart by their names. */
export function models(step: ScriptStep | readonly ScriptStep[]): Models {
  const normal = scriptedModel(step, 'normal')
  return { normal, cheap: { name: 'scripted/cheap', stream: (request) => normal.stream(request) } }
}

/** What is told of conversations from now on. */
export function listen(hub: Hub): {
  readonly events: ConversationEvent[]
  of(id: string): ConversationEvent[]
} {
  const events: ConversationEvent[] = []
  hub.on((event) => {
    if (event.type === 'conversation') events.push(event)
  })
  return { events, of: (id) => events.filter((event) => event.id === id) }
}

/** Says something, and waits until the turn that answers it is over; tells the entries. */
export async function talk(hub: Hub, id: string, text: string): Promise<readonly Entry[]> {
  await hub.conversations.post(id, text)
  await hub.conversations.settled(id)
  return (await hub.conversations.get(id)).messages
}

export async function entriesOf(hub: Hub, id: string): Promise<readonly Entry[]> {
  return (await hub.conversations.get(id)).messages
}

/** The entries of one kind. */
export function only<R extends Entry['role']>(
  entries: readonly Entry[],
  role: R,
): Extract<Entry, { role: R }>[] {
  return entries.filter((entry): entry is Extract<Entry, { role: R }> => entry.role === role)
}

/** Waits for an event of a kind. */
export async function heard<K extends ConversationEvent['kind']>(
  listening: ReturnType<typeof listen>,
  id: string,
  kind: K,
): Promise<Extract<ConversationEvent, { kind: K }>> {
  return await until(() =>
    listening.of(id).find((event): event is Extract<ConversationEvent, { kind: K }> => event.kind === kind),
  )
}
