// Questions about accepted definitions: asked of the running gateway, which judges by them, else of the store itself.

import type { Snapshot } from '../config/snapshot.ts'
import type { PinDiff, ShownPin } from '../policy/pin-shown.ts'
import { askGateway, gatewayRuns } from './gateway-client.ts'
import { withStore } from './recorded.ts'
import type { Session } from './session.ts'

export interface Pinned {
  list(server?: string): Promise<ShownPin[]>
  diff(server: string, tool: string): Promise<PinDiff>
  /** Only what was shown: the fingerprint is that of the definition that waits. */
  accept(server: string, tool: string, fingerprint: string): Promise<void>
}

/** Runs `work` with whoever can answer. */
export async function pinned(
  session: Session,
  active: Snapshot,
  work: (pins: Pinned) => Promise<void>,
): Promise<void> {
  const { places } = active
  const { signal } = session
  if (await gatewayRuns(places, signal)) {
    const get = <T extends object>(path: string, query: Record<string, string>) =>
      askGateway<T>(places, { method: 'GET', path: `${path}?${new URLSearchParams(query)}`, signal })
    await work({
      list: async (server) =>
        (await get<{ pins: ShownPin[] }>('/api/pins', server === undefined ? {} : { server })).pins,
      diff: (server, tool) => get<PinDiff>('/api/pins/diff', { server, tool }),
      accept: async (server, tool, fingerprint) => {
        const body = JSON.stringify({ server, tool, fingerprint })
        await askGateway(places, { method: 'POST', path: '/api/pins/accept', body, signal })
      },
    })
    return
  }
  await withStore(session, active, async (store) => {
    const { PinBoard } = await import('../policy/pins.ts')
    const board = await PinBoard.open(store.pins, { onTrouble: (message) => session.out.warn(message) })
    await work({
      list: async (server) => board.list({ server }),
      diff: async (server, tool) => board.diff(server, tool),
      accept: async (server, tool, fingerprint) => {
        await board.accept(server, tool, fingerprint, 'owner')
      },
    })
    await board.close()
  })
}
