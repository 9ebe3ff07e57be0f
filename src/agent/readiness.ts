// Waits for an agent's servers before its first question: its tools are known when they are up, or were once.

import type { AgentHandle } from '../call/handle.ts'
import { unlessAborted } from './abortable.ts'

/** One that hangs is waited for once, not for long, and not by somebody who was stopped; `hanging` remembers it. */
export async function serversReady(
  handle: Pick<AgentHandle, 'ready'>,
  hanging: Set<string>,
  signal: AbortSignal,
): Promise<void> {
  const { pending } = await handle.ready({ timeout: 0 })
  if (pending.every((server) => hanging.has(server))) return
  const found = await unlessAborted(handle.ready({ timeout: PATIENCE }), signal)
  for (const server of found?.pending ?? []) hanging.add(server)
  for (const server of found?.ready ?? []) hanging.delete(server)
}

// --- internal ---

/** Milliseconds. */
const PATIENCE = 5000
