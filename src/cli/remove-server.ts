// Removing a server: its definition, and every mention of it in every file of ours.

import { Fault } from '../base/fault.ts'
import { removeMentions, removeServer, serverPath, type Target } from '../config/plan.ts'
import type { Snapshot } from '../config/snapshot.ts'
import { placeText, serverNamed, shellWord } from './describe.ts'
import { layerTarget, makeEdits, type WriteScope } from './edit.ts'
import type { Session } from './session.ts'

/** Removes `name`; `scope` chooses where several files define it. */
export async function removeNamed(
  session: Session,
  name: string,
  scope: WriteScope | undefined,
): Promise<void> {
  const snapshot = await session.snapshot()
  const entry = serverNamed(snapshot, name)
  if (entry.scope === 'flag')
    throw new Fault('USAGE', `${name} comes from --mcp-server; leave that flag out`, { server: name })
  if (entry.place.path.at(-1) === 'composio' && entry.place.path.at(-2) !== 'servers')
    throw new Fault('CONFIG_EDIT', 'composio is a section of its own', {
      server: name,
      hint: 'run: busbar disable composio',
    })
  const files = snapshot.layers.filter((layer) => layer.source.scope !== 'flag')
  const target = (value: unknown, format: (typeof files)[number]['source']['format']): Target => ({
    value,
    format,
  })
  const defining = files.filter(({ source, broken, tree }) => {
    const servers = tree.kind === 'map' ? tree.entries.get('servers') : undefined
    return (
      broken.has(name) ||
      (servers?.kind === 'map' && servers.entries.has(name)) ||
      serverPath(target(source.document.value, source.format), name) !== undefined
    )
  })
  const chosen = scope === undefined ? defining : defining.filter((layer) => layer.source.scope === scope)
  if (scope !== undefined && chosen.length === 0)
    throw new Fault('SERVER_UNKNOWN', `no ${scope} file defines "${name}"`, {
      server: name,
      hint: `it stands in ${placeText(entry.place)}`,
    })
  if (scope === undefined && new Set(chosen.map((layer) => layer.source.scope)).size > 1)
    throw new Fault(
      'USAGE',
      `${name} is defined in several places: ${chosen.map((layer) => layer.source.file).join(', ')}`,
      {
        server: name,
        hint: `say which: ${[...new Set(chosen.map((layer) => layer.source.scope))]
          .filter((it) => it !== 'managed')
          .map((it) => `busbar remove ${name} -s ${it}`)
          .join(' or ')}`,
      },
    )
  const foreign = chosen.find((layer) => !layer.source.format.ours || layer.source.scope === 'managed')
  if (foreign)
    throw new Fault('CONFIG_EDIT', `${name} stands in ${foreign.source.file}, which Busbar only reads`, {
      server: name,
      hint: `switch it off instead: busbar disable ${shellWord(name)}`,
    })
  // Where another file still defines it, the lists go on meaning that one.
  const stays = defining.length > chosen.length
  const editable = files.filter((layer) => layer.source.format.ours && layer.source.scope !== 'managed')
  const edits = editable.flatMap((layer) => {
    const isChosen = chosen.includes(layer)
    const plan = (file: Target) => [
      ...(stays ? [] : removeMentions(file, name)),
      ...(isChosen ? removeServer(file, name) : []),
    ]
    const changes = plan(target(layer.source.document.value, layer.source.format))
    const meant = { servers: [name], agents: 'all' as const }
    return changes.length === 0 ? [] : [{ target: layerTarget(snapshot, layer.source.file), plan, meant }]
  })
  if (edits.length === 0)
    throw new Fault(
      'CONFIG_EDIT',
      `nothing of ours mentions "${name}"; it stands in ${placeText(entry.place)}`,
      {
        server: name,
      },
    )
  const { written, after } = await makeEdits(session, snapshot, edits)
  const left = after.servers.get(name)
  for (const it of after.assignments)
    if (it.from === 'defaults' && it.servers.length > 0 && wasOwn(snapshot, it.id))
      session.out.warn(
        `${it.id} has no servers of its own any more and gets the default ones: ${it.servers.join(', ')}`,
      )
  session.out.answer(
    { removed: name, files: written.filter((it) => it.changed).map((it) => it.file) },
    () => [
      `Removed ${name}.`,
      ...(left ? [`Another definition is now in force: ${placeText(left.place)}`] : []),
    ],
  )
}

// --- internal ---

function wasOwn(before: Snapshot, id: string): boolean {
  return before.assignments.some((it) => it.id === id && it.from === 'own')
}
