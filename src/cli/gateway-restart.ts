// Has a running gateway start a server again, after something it uses has changed.

import { Fault } from '../base/fault.ts'
import type { Places } from '../base/places.ts'
import { isRecord } from '../base/record.ts'
import { askGateway } from './gateway-client.ts'

/** The server's status then; undefined when no gateway runs, or when it does not know the server. */
export async function restartInGateway(
  places: Places,
  server: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const path = `/api/servers/${encodeURIComponent(server)}/restart`
    const answer = await askGateway(places, { method: 'POST', path, signal })
    return isRecord(answer['server']) ? String(answer['server']['status']) : undefined
  } catch (error) {
    if (!(error instanceof Fault) || error.code === 'CALL_CANCELLED') throw error
    return undefined
  }
}
