// Switching a server on or off, in its own file or, where that is another tool's, by a line in ours.

import { Fault } from '../base/fault.ts'
import type { Change } from '../config/edit/change.ts'
import { serverPath, switchServer, type Target } from '../config/plan.ts'
import type { ServerEntry, Snapshot } from '../config/snapshot.ts'
import { isComposio, placeText, serverNamed } from './describe.ts'
import { layerTarget, makeEdits, writeTarget } from './edit.ts'
import type { Session } from './session.ts'
import { switchRunning } from './switch-running.ts'

export async function switchNamed(session: Session, name: string, on: boolean): Promise<void> {
  const snapshot = await session.snapshot()
  const entry = serverNamed(snapshot, name)
  if (entry.scope === 'managed')
    throw new Fault(
      'CONFIG_EDIT',
      `${name} is managed by ${entry.place.origin.file}, which cannot be overridden`,
      { server: name },
    )
  if (entry.scope === 'catalog')
    throw new Fault('CONFIG_EDIT', `${name} is only named in an agent's list and has no entry to switch`, {
      server: name,
      hint: `give it one: busbar integrations add ${name}   or take it out: busbar remove ${name}`,
    })
  if (entry.scope === 'flag')
    throw new Fault('USAGE', `${name} comes from --mcp-server; leave that flag out`, { server: name })
  const word = on ? 'on' : 'off'
  if ((entry.definition?.enabled ?? true) === on) {
    const running = await switchRunning(session, snapshot, name, on)
    session.out.answer({ name, enabled: on, changed: false, ...(running && { running }) }, () =>
      running === undefined
        ? `${name} is ${word} already.`
        : `${name} is ${word} already; in the running gateway it was not, and is ${word} there again: ${running}.`,
    )
    return
  }
  if (isComposio(entry)) return await switchComposio(session, snapshot, entry, on)
  // The topmost file that says something about it decides.
  const deciding = snapshot.layers
    .filter(({ source }) => entry.sources.includes(source) && source.format.ours)
    .filter(
      ({ source }) => serverPath({ format: source.format, value: source.document.value }, name) !== undefined,
    )
    .at(-1)
  const top = entry.sources.at(-1)
  const own = deciding && deciding.source === top
  const target = own
    ? layerTarget(snapshot, deciding.source.file)
    : writeTarget(session, snapshot, top?.scope === 'user' ? 'user' : 'local')
  const plan = (file: Target) =>
    serverPath(file, name) === undefined
      ? [{ kind: 'set' as const, path: ['servers', name, 'enabled'], value: on }]
      : switchServer(file, name, on)
  const { after } = await makeEdits(session, snapshot, [{ target, plan, meant: { servers: [name] } }])
  const now = after.servers.get(name)
  if ((now?.definition?.enabled ?? true) !== on)
    throw new Fault(
      'CONFIG_EDIT',
      `${name} is still ${on ? 'off' : 'on'}: ${now ? placeText(now.place) : 'it is gone'}`,
      {
        server: name,
      },
    )
  // What was switched in the gateway alone may have outlasted the change.
  await switchRunning(session, after, name, on)
  session.out.answer({ name, enabled: on, changed: true, file: target.file }, () => `${name} is ${word}.`)
}

// --- internal ---

async function switchComposio(
  session: Session,
  snapshot: Snapshot,
  entry: ServerEntry,
  on: boolean,
): Promise<void> {
  const target = layerTarget(snapshot, entry.place.origin.file)
  const plan = (): Change[] => [{ kind: 'set', path: [...entry.place.path, 'enabled'], value: on }]
  await makeEdits(session, snapshot, [{ target, plan, meant: {} }])
  session.out.answer(
    { name: entry.name, enabled: on, changed: true, file: target.file },
    () => `composio is ${on ? 'on' : 'off'}.`,
  )
}
