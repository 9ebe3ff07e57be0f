// Lines over the owner's socket: how `busbar serve --stdio` hands its client over to the gateway that runs already.

import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Actor } from '../policy/access.ts'
import { serveLines } from './lines.ts'
import type { McpEndpoint } from './mcp.ts'

/** What both sides call it. */
export const LINES = 'busbar-lines'

export interface Upgrade {
  readonly endpoint: McpEndpoint
  /** Who it is by their token: whoever opens the socket is the owner, but speaks for an agent here. */
  readonly actor: Actor | undefined
  readonly signal: AbortSignal
}

/** Takes a connection over. Never throws. */
export function serveUpgrade(
  { endpoint, actor, signal }: Upgrade,
  { headers, url = '' }: IncomingMessage,
  socket: Socket,
  head: Buffer,
): void {
  // The client may go at any moment.
  socket.on('error', () => socket.destroy())
  const [, path, name] = /^(\/lines)(?:\/([^/]+))?$/.exec(url) ?? []
  if (path === undefined || headers.upgrade !== LINES) {
    socket.end('HTTP/1.1 404 Not Found\r\nconnection: close\r\n\r\n')
  } else if (actor === undefined) {
    socket.end('HTTP/1.1 401 Unauthorized\r\nconnection: close\r\n\r\n')
  } else {
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: ${LINES}\r\n\r\n`)
    if (head.length > 0) socket.unshift(head)
    const scope = name === undefined ? undefined : decodeURIComponent(name)
    void serveLines(endpoint, { actor, scope, input: socket, output: socket }, signal).finally(() =>
      socket.end(),
    )
  }
}
