// A question in the course of a task says which task that is: it is for whoever waits for its result, however many others
// are calling.

import { isRecord } from '../base/record.ts'
import { memberValue, type RequestMessage } from '../wire/message.ts'
import type { Ask } from './pending.ts'

/** The task that a question says it is about. Read, not searched for: a key can be written in more than one way. */
export function relatedTask(message: RequestMessage): string | undefined {
  const params = memberValue(message, 'params')
  const meta = isRecord(params) ? params['_meta'] : undefined
  const related = isRecord(meta) ? meta['io.modelcontextprotocol/related-task'] : undefined
  const task = isRecord(related) ? related['taskId'] : undefined
  return typeof task === 'string' ? task : undefined
}

/** The task whose result a request waits for. */
export function taskIn({ method, params }: Ask): unknown {
  if (method !== 'tasks/result' || params === undefined) return undefined
  const given = JSON.parse(params)
  return isRecord(given) ? given['taskId'] : undefined
}
