// A modern server tells what changed only to whom listens, and every such stream ends some time.

import { Fault } from '../base/fault.ts'
import { changedList, type Link } from './link.ts'
import { rest } from './pause.ts'

type Listed = 'tools' | 'resources' | 'prompts'

/** Listens for as long as the link lives. After a gap everything may have changed. */
export async function keepListening(
  link: Link,
  signal: AbortSignal,
  onChange: (list: Listed) => void,
): Promise<void> {
  const offered = (['tools', 'prompts', 'resources'] as const).filter((it) => link.offers(it, 'listChanged'))
  if (link.agreement.era !== 'modern' || offered.length === 0) return
  for (let wait = 1_000; !signal.aborted; wait = Math.min(wait * 2, 60_000)) {
    const since = performance.now()
    try {
      await link.listen(signal, (method) => {
        const list = changedList(method)
        if (list) onChange(list)
      })
    } catch (error) {
      // One that refuses will refuse again, and one that is gone is somebody else's concern.
      if (!(error instanceof Fault) || error.code === 'SERVER_ERROR' || link.closed) return
    }
    if (performance.now() - since > 60_000) wait = 1_000
    await rest(wait, signal)
    if (!signal.aborted) for (const list of offered) onChange(list)
  }
}
