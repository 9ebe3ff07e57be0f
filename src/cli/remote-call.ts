// A call that the running gateway makes: it has the servers, and it is the one who writes the record.

import { Fault } from '../base/fault.ts'
import type { Places } from '../base/places.ts'
import { CallResult } from '../call/result.ts'
import type { Answer } from '../gateway/api-types.ts'
import { readMessage } from '../wire/message.ts'
import { askForBytes, askGateway, NO_LIMIT } from './gateway-client.ts'
import type { Session } from './session.ts'
import { statusLine } from './status-line.ts'

interface About {
  readonly agent: string | undefined
  readonly server: string
  readonly tool: string
  readonly timeout: number | undefined
  readonly approvalWait?: number | undefined
}

/** What the tool's arguments must look like, once its server is up; empty when there is no such tool: the call will tell. */
export async function remoteSchema(
  { signal }: Session,
  places: Places,
  { agent, server, tool, timeout = NO_LIMIT }: About,
): Promise<Readonly<Record<string, unknown>>> {
  const query = new URLSearchParams({ server, wait: 'true', ...(agent === undefined ? {} : { agent }) })
  const path = `/api/tools?${query}`
  const { tools } = await askGateway<Answer<'GET /api/tools'>>(places, {
    method: 'GET',
    path,
    signal,
    timeout,
  })
  return tools.find(({ name }) => name === tool)?.inputSchema ?? {}
}

export async function callRemotely(
  session: Session,
  places: Places,
  { agent, server, tool, timeout, approvalWait }: About,
  text: string,
): Promise<CallResult> {
  const line = statusLine(session.out)
  line.show(`calling ${server}/${tool} through the gateway`)
  try {
    const about = JSON.stringify({ agent, server, tool, timeout, approvalWait })
    const bytes = await askForBytes(places, {
      method: 'POST',
      path: '/api/tools/call',
      signal: session.signal,
      // Not parsed and written again: every digit stays.
      body: `${about.slice(0, -1)},"arguments":${text}}`,
      timeout: NO_LIMIT,
    })
    const message = readMessage(Buffer.concat([START, bytes, END]))
    if (message.kind === 'result') return new CallResult(server, message)
    throw new Fault('MESSAGE_INVALID', 'the gateway answered with something that is no result')
  } finally {
    line.end()
  }
}

// --- internal ---

const START = Buffer.from('{"jsonrpc":"2.0","id":0,"result":')
const END = Buffer.from('}')
