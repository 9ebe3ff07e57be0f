// Accepted definitions of tools, for the owner: what changed, and accepting it.

import { Fault } from '../base/fault.ts'
import { isRecord } from '../base/record.ts'
import type { Hub } from '../hub.ts'
import type { Answer } from './api-types.ts'

/** `GET /api/pins?server=` */
export async function listPins(hub: Hub, query: URLSearchParams): Promise<Answer<'GET /api/pins'>> {
  await hub.pins.refresh()
  return { pins: hub.pins.list({ server: query.get('server') ?? undefined }) }
}

/** `GET /api/pins/diff?server=&tool=` */
export async function diffPin(hub: Hub, query: URLSearchParams): Promise<Answer<'GET /api/pins/diff'>> {
  const server = query.get('server')
  const tool = query.get('tool')
  if (server === null || tool === null) throw wrong('server or tool is missing')
  await hub.pins.refresh()
  return hub.pins.diff(server, tool)
}

/** `POST /api/pins/accept` with `{ server, tool, fingerprint }`: the fingerprint is that of the definition that was shown. */
export async function acceptPin(hub: Hub, body: Buffer): Promise<Answer<'POST /api/pins/accept'>> {
  const { server, tool, fingerprint } = fieldsOf(body)
  if (typeof server !== 'string' || typeof tool !== 'string' || typeof fingerprint !== 'string')
    throw wrong('server, tool or fingerprint is missing')
  return { pin: await hub.pins.accept(server, tool, fingerprint, 'owner') }
}

// --- internal ---

function fieldsOf(body: Buffer): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(String(body))
    if (isRecord(value)) return value
  } catch {
    // Told below.
  }
  throw wrong('the body is no JSON object')
}

function wrong(message: string): Fault {
  return new Fault('USAGE', message, { hint: 'see docs/pins.md' })
}
