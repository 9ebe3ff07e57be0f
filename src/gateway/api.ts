// What the owner's commands ask of the running gateway. Reached by the owner's socket, or with the owner's token.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { Fault } from '../base/fault.ts'
import type { Hub } from '../hub.ts'
import { readBody } from './body.ts'
import { json } from './json.ts'

/** Never throws for what a request says: a fault is an answer. */
export async function serveApi(
  hub: Hub,
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
): Promise<void> {
  try {
    const answer = await route(hub, request, response, path)
    if (answer !== undefined) json(response, 200, answer)
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    const { code, message, hint, server } = error
    json(response, code === 'SERVER_UNKNOWN' || code === 'USAGE' ? 404 : 409, { code, message, hint, server })
  }
}

// --- internal ---

async function route(
  hub: Hub,
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
): Promise<object | undefined> {
  if (path === '/api/servers' && request.method === 'GET') return { servers: hub.servers.status() }
  const [, name, action] = /^\/api\/servers\/([^/]+)\/(restart|enable|disable|toggle)$/.exec(path) ?? []
  if (name === undefined || request.method !== 'POST')
    throw new Fault('USAGE', `${request.method} ${path} is not known`, { hint: 'see docs/reference' })
  const server = decoded(name)
  switch (action) {
    case 'restart':
      return { server: await hub.servers.reconnect(server) }
    case 'enable':
      return { server: await hub.servers.enable(server) }
    case 'disable':
      return { server: await hub.servers.disable(server) }
    default: {
      const body = await readBody(request, response)
      if (body === undefined) return undefined
      const visible = body.length === 0 ? hub.servers.get(server).state === 'hidden' : visibleIn(body)
      return { server: await hub.servers.toggle(server, visible) }
    }
  }
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    throw new Fault('USAGE', `${name} is no name in an address`, { hint: 'encode it as an address wants it' })
  }
}

function visibleIn(body: Buffer): boolean {
  try {
    const { visible } = JSON.parse(String(body))
    if (typeof visible === 'boolean') return visible
  } catch {
    // Told below.
  }
  throw new Fault('USAGE', 'the body is not understood', {
    hint: 'send {"visible": true} or {"visible": false}',
  })
}
