import { expect, test } from 'vitest'
import { type ErrorMessage, readMessage } from '../../wire/message.ts'
import type { Refusal } from './refusal.ts'
import { sessionLoss } from './session-loss.ts'

const ID = 7

/** What a server refuses with; its error may be under our id. */
function loss(status: number, code: number, message: string, id: number | null): string | undefined {
  const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } }))
  return sessionLoss({ status, body, headers: {} } as Refusal, readMessage(body) as ErrorMessage, ID)
}

test('[E8] a refusal for the session means that, under whatever id', () => {
  for (const id of [ID, null]) {
    expect(loss(400, -32000, 'Bad Request: Server not initialized', id)).toBe('likely')
    expect(loss(400, -32000, 'Bad Request: No valid session ID provided', id)).toBe('likely')
    expect(loss(404, -32001, 'Session not found', id)).toBe('sure')
  }
})

test('[E8] an error of what a request was about is no loss: it may have been done, and must not be done again', () => {
  expect(loss(400, -32603, 'database connection not initialized', ID)).toBeUndefined()
  expect(loss(400, -32603, 'the session of the browser is gone', ID)).toBeUndefined()
  expect(loss(400, -32602, 'session is no argument', ID)).toBeUndefined()
})
