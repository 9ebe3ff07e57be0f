// Removing a server: its definition, and every mention of it in every file of ours.

import { Fault } from '../base/fault.ts'
import { shellWord } from '../base/shell-word.ts'
import type { Layer } from '../config/layer.ts'
import { removeMentions, removeServer, serverPath, type Target } from '../config/plan.ts'
import type { ServerEntry, Snapshot } from '../config/snapshot.ts'
import { subtree } from '../config/tree.ts'
import { ownerOf } from '../connect/auth/grant.ts'
import { forgetFiles } from '../connect/server-file.ts'
import { isAnythingKept } from '../secrets/kept.ts'
import { isComposio, placeText, serverNamed } from './describe.ts'
import { layerTarget, makeEdits, type WriteScope } from './edit.ts'
import { forgetAnswers } from './forget-answers.ts'
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
  if (isComposio(entry))
    throw new Fault('CONFIG_EDIT', 'composio is a section of its own', {
      server: name,
      hint: 'run: busbar disable composio',
    })
  const holding = snapshot.layers.filter((layer) => layer.source.scope !== 'flag' && holds(layer, name))
  const chosen = choose(holding, name, scope, entry)
  // What only adjusts a server is nothing without it.
  const stays = holding.some((layer) => !chosen.includes(layer) && !adjusts(layer, name))
  const going = stays ? chosen : holding.filter((layer) => layer.source.format.ours)
  const edits = snapshot.layers
    .filter(({ source }) => source.format.ours && source.scope !== 'managed' && source.scope !== 'flag')
    .flatMap((layer) => {
      // Where another file still defines it, the lists go on meaning that one.
      const plan = (file: Target) => [
        ...(stays ? [] : removeMentions(file, name)),
        ...(going.includes(layer) ? removeServer(file, name) : []),
      ]
      const meant = { servers: [name], agents: 'all' as const }
      const changes = plan(fileOf(layer))
      return changes.length === 0 ? [] : [{ target: layerTarget(snapshot, layer.source.file), plan, meant }]
    })
  if (edits.length === 0)
    throw new Fault('CONFIG_EDIT', `nothing of ours mentions "${name}"`, {
      server: name,
      hint: `it stands in ${placeText(entry.place)}`,
    })
  const { written, after } = await makeEdits(session, snapshot, edits)
  const left = after.servers.get(name)
  const kept = left === undefined && (await signedOut(session, after, name))
  if (left === undefined) {
    // What was denied stays, so that a server of that name cannot come back with more rights.
    await forgetAnswers(
      session,
      ({ server }) => server === name,
      ({ decision }) => decision !== 'deny',
    )
    forgetFiles(after.places, name)
  }
  for (const it of after.assignments)
    if (it.from === 'defaults' && it.servers.length > 0 && wasOwn(snapshot, it.id))
      session.out.warn(
        `${it.id} has no servers of its own any more and gets the default ones: ${it.servers.join(', ')}`,
      )
  session.out.answer(
    { removed: name, files: written.filter((it) => it.changed).map((it) => it.file) },
    () => [
      `Removed ${name}.`,
      ...(kept ? ['You are signed out of it: its tokens are erased.'] : []),
      ...(left ? [`Another definition is now in force: ${placeText(left.place)}`] : []),
    ],
  )
}

// --- internal ---

/** Tokens of a server that is gone are of no use to anybody who should have them. */
async function signedOut(
  { out, signal }: Session,
  { places, env }: Snapshot,
  name: string,
): Promise<boolean> {
  if (!isAnythingKept(places, ownerOf(name))) return false
  const [{ openSecrets }, { accountsKept, forgetServer }] = await Promise.all([
    import('../secrets/secrets.ts'),
    import('../connect/forget.ts'),
  ])
  try {
    const secrets = await openSecrets(places, env)
    await forgetServer(secrets, name, accountsKept(secrets, name), env, signal)
    return true
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    out.warn(`its tokens could not be erased: ${error.message}; run: busbar logout ${name}`)
    return false
  }
}

function fileOf({ source }: Layer): Target {
  return { value: source.document.value, format: source.format }
}

function holds(layer: Layer, name: string): boolean {
  return (
    layer.broken.has(name) ||
    subtree(layer.tree, ['servers', name]) !== undefined ||
    serverPath(fileOf(layer), name) !== undefined
  )
}

/** Whether a file only says something about a server that another one defines. */
function adjusts(layer: Layer, name: string): boolean {
  const has = (key: string) => subtree(layer.tree, ['servers', name, key]) !== undefined
  return !layer.broken.has(name) && !has('command') && !has('url')
}

/** The files to take it out of: those of the scope, or the one that defines it. */
function choose(
  holding: readonly Layer[],
  name: string,
  scope: WriteScope | undefined,
  entry: ServerEntry,
): readonly Layer[] {
  const defining = holding.filter((layer) => !adjusts(layer, name))
  const chosen = scope === undefined ? defining : holding.filter((layer) => layer.source.scope === scope)
  const scopes = [...new Set(chosen.map((layer) => layer.source.scope))]
  if (scope !== undefined && chosen.length === 0)
    throw new Fault('SERVER_UNKNOWN', `no ${scope} file defines "${name}"`, {
      server: name,
      hint: `it stands in ${placeText(entry.place)}`,
    })
  if (scopes.length > 1) {
    const ways = scopes
      .filter((it) => it !== 'managed')
      .map((it) => `busbar remove ${shellWord(name)} -s ${it}`)
    const files = chosen.map((layer) => layer.source.file).join(', ')
    throw new Fault('USAGE', `${name} is defined in several places: ${files}`, {
      server: name,
      hint: `say which: ${ways.join(' or ')}`,
    })
  }
  const foreign = chosen.find(({ source }) => !source.format.ours || source.scope === 'managed')
  if (foreign)
    throw new Fault('CONFIG_EDIT', `${name} stands in ${foreign.source.file}, which Busbar only reads`, {
      server: name,
      hint: `switch it off instead: busbar disable ${shellWord(name)}`,
    })
  return chosen
}

function wasOwn(before: Snapshot, id: string): boolean {
  return before.assignments.some((it) => it.id === id && it.from === 'own')
}
