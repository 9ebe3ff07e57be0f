// Lines over the owner's socket: how `busbar serve --stdio` hands its client over to the gateway that runs already.

import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { randomHex } from '../base/digest.ts'
import type { Actor } from '../policy/access.ts'
import type { Gone } from './gone.ts'
import { serveLines } from './lines.ts'
import type { McpEndpoint } from './mcp.ts'

/** What both sides call it. */
export const LINES = 'busbar-lines'
/** The header with the word by which the gateway says that it began nothing: a server does not know it. */
export const WORD = 'busbar-word'

export interface Upgrade {
  readonly endpoint: McpEndpoint
  /** Who it is by their token: whoever opens the socket is the owner, but speaks for an agent here. */
  readonly actor: Actor | undefined | 'nobody now'
  /** Fires when that token opens nothing any more. */
  readonly gone: Gone
  readonly signal: AbortSignal
}

/** Takes a connection over. Never throws. */
export function serveUpgrade(
  { endpoint, actor, gone, signal }: Upgrade,
  { headers, url = '' }: IncomingMessage,
  socket: Socket,
  head: Buffer,
): void {
  // The client may go at any moment.
  socket.on('error', () => socket.destroy())
  const [, path, name] = /^(\/lines)(?:\/([^/]+))?$/.exec(url) ?? []
  const scope = name === undefined ? undefined : decoded(name)
  if (path === undefined || scope === null || headers.upgrade !== LINES) {
    refuse(socket, '404 Not Found')
  } else if (actor === 'nobody now') {
    refuse(socket, '503 Service Unavailable')
  } else if (actor === undefined) {
    refuse(socket, '401 Unauthorized')
  } else {
    const word = randomHex(16)
    const upgraded = ['HTTP/1.1 101 Switching Protocols', 'connection: upgrade', `upgrade: ${LINES}`]
    socket.write([...upgraded, `${WORD}: ${word}`, '', ''].join('\r\n'))
    if (head.length > 0) socket.unshift(head)
    const client = { actor, scope, input: socket, output: socket, gone, word }
    void serveLines(endpoint, client, signal).finally(() => socket.end())
  }
}

// --- internal ---

function refuse(socket: Socket, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\n\r\n`)
}

/** Null where it is no name in an address. */
function decoded(name: string): string | null {
  try {
    return decodeURIComponent(name)
  } catch {
    return null
  }
}
