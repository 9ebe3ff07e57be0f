// Which stream a notification of a modern server belongs to.

import { META } from '../wire/era.ts'
import { memberValue, type NotificationMessage } from '../wire/message.ts'

/** The request that a modern server sends this for, where all requests share one stream. */
export function subscriptionOf(message: NotificationMessage): number | undefined {
  if (!message.bytes.includes(META.subscription)) return undefined
  const params = memberValue(message, 'params') as { _meta?: Record<string, unknown> } | undefined
  const id = Number(params?._meta?.[META.subscription])
  return Number.isInteger(id) ? id : undefined
}
