// What a running gateway tells a person as it happens, one line each. Nothing of what a server said can look like another
// line, or act on the terminal.

import type { ServerStatus } from '../connect/status.ts'
import type { HubEvent } from '../hub.ts'
import { safeJson } from './output.ts'
import { oneLine } from './review.ts'
import type { Session } from './session.ts'
import type { Telling } from './up-follow.ts'

/** Warnings as they come: a command that runs for days cannot keep them for its answer. */
export function teller({ out }: Session): Telling {
  return {
    warn(text) {
      if (out.json) process.stderr.write(`${safeJson(JSON.stringify({ warning: text }))}\n`)
      else out.warn(oneLine(text))
    },
    note: (text) => out.note(oneLine(text)),
  }
}

/** Listens to a hub. The same failure again is not told again. */
export function eventLog({ warn, note }: Telling): (event: HubEvent) => void {
  const told = new Map<string, string>()
  return (event) => {
    switch (event.type) {
      case 'server-status':
        return server(event.status)
      case 'trouble':
        return warn(event.message)
      case 'reaped':
        for (const { server, pids } of event.processes)
          warn(`${server} was still running from a run that was killed; ended (${pids.join(', ')})`)
        return
      case 'approval': {
        const { status, agent, server, tool } = event.approval
        if (status === 'pending')
          note(`${agent} asks for ${server === '' ? tool : `${server}/${tool}`}: busbar approve list`)
      }
    }
  }

  /** A line for each change that a person should know of. */
  function server({ name, status, tools, error = status, hint, state }: ServerStatus): void {
    const failed = status === 'failed' || status === 'needs-auth'
    if (!failed && state !== 'connected') return
    const what = error.startsWith(name) ? error : `${name}: ${error}`
    const text = failed ? `${what}${hint ? ` (${hint})` : ''}` : `${name}: connected, ${tools.length} tools`
    if (told.get(name) === text) return
    told.set(name, text)
    if (failed) warn(text)
    else note(text)
  }
}
