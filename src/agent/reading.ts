// Conversations as they are kept, for whoever only looks: nothing is taken up, and nobody else is kept from them.

import { Fault } from '../base/fault.ts'
import type { Store } from '../store/store.ts'
import type { ConversationView, ListOptions, MessagePage, WholeConversation } from './conversation.ts'
import { entriesOf } from './entries.ts'
import { type Running, viewOf } from './task.ts'

type Kept = Pick<Store, 'conversations'>
/** Those in which this process does something. */
type Tasks = ReadonlyMap<string, Running>

/** Latest first. */
export async function listed(
  { conversations }: Kept,
  { agent, limit, before }: ListOptions,
  tasks?: Tasks,
): Promise<ConversationView[]> {
  const found = await conversations.list({ agent, limit, before })
  return found.map((conversation) => viewOf(conversation, tasks?.get(conversation.id)))
}

export async function whole(
  { conversations }: Kept,
  id: string,
  page: MessagePage,
  tasks?: Tasks,
): Promise<WholeConversation> {
  const conversation = await conversations.get(id)
  if (conversation === undefined) throw unknownConversation(id)
  const messages = entriesOf(await conversations.messages(id, page))
  return { ...viewOf(conversation, tasks?.get(id)), messages }
}

export function unknownConversation(id: string): Fault {
  return new Fault('CONVERSATION_UNKNOWN', `no conversation has the id ${JSON.stringify(id)}`)
}
