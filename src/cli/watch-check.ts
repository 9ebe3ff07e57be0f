// `busbar config check --watch`: says after every edit whether it would be taken over.

import { errorsOf } from '../config/load.ts'
import { type ConfigEvent, watchConfig } from '../config/watch.ts'
import type { Session } from './session.ts'

/** Runs until it is interrupted. */
export async function watchCheck(session: Session): Promise<void> {
  const { out } = session
  const say = (event: ConfigEvent | { kind: 'watching'; servers: number }) => {
    if (out.json) process.stdout.write(`${JSON.stringify(forPrograms(event))}\n`)
    else if (event.kind === 'watching')
      out.answer({}, () => `Watching. ${event.servers} servers. Ctrl-C ends it.`)
    else if (event.kind === 'refused') {
      out.answer({}, () => 'Refused; the last good configuration stays:')
      for (const problem of event.problems) out.problem(problem)
    } else {
      const { added, changed, removed, unchanged } = event.diff
      const part = (word: string, names: readonly string[]) =>
        names.length > 0 ? [`${word}: ${names.join(', ')}`] : []
      const parts = [...part('added', added), ...part('changed', changed), ...part('removed', removed)]
      out.answer({}, () => `Taken over. ${[...parts, `${unchanged.length} unchanged`].join('; ')}.`)
    }
  }
  const watch = await watchConfig(session.loadOptions, say)
  for (const problem of errorsOf(watch.current)) out.problem(problem)
  say({ kind: 'watching', servers: watch.current.servers.size })
  await new Promise((resolve) => session.signal.addEventListener('abort', resolve))
  watch.close()
}

// --- internal ---

function forPrograms(event: ConfigEvent | { kind: 'watching'; servers: number }): object {
  if (event.kind !== 'applied') return event
  return { kind: event.kind, ...event.diff }
}
