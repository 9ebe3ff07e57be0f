// Servers that other tools know on this machine: found, shown, and taken over on a yes.

import { existsSync } from 'node:fs'
import { Fault } from '../base/fault.ts'
import { nearest } from '../base/suggest.ts'
import { canonical } from '../config/canonical.ts'
import { type Client, clientsOf } from '../config/clients.ts'
import { loadConfig } from '../config/load.ts'
import { addServer, type Target } from '../config/plan.ts'
import { problemLine } from '../config/problem.ts'
import { serverSchema, transportOf } from '../config/schema-server.ts'
import type { ServerEntry, Snapshot } from '../config/snapshot.ts'
import { absolute, rootOf } from '../config/sources.ts'
import { plain } from '../config/tree.ts'
import { maskSecrets } from '../config/view.ts'
import { nearPath } from './describe.ts'
import { makeEdits, type WriteScope, writeScope, writeTarget } from './edit.ts'
import { importable } from './importable.ts'
import { canAsk, confirm } from './prompt.ts'
import { oneLine, reviewServer } from './review.ts'
import type { Session } from './session.ts'

interface ImportOptions {
  readonly scope?: string
  readonly 'dry-run'?: boolean
  readonly yes?: boolean
  readonly force?: boolean
}

interface Found {
  readonly name: string
  readonly client: string
  readonly file: string
  readonly scope: WriteScope
  readonly entry: Record<string, unknown>
  readonly transport: string
  readonly state: 'new' | 'same' | 'differs'
}

/** Shows what a client, a file or all clients know, and takes over what is new when a person agrees. */
export async function importServers(
  session: Session,
  what: string | undefined,
  options: ImportOptions,
): Promise<void> {
  const { out } = session
  const snapshot = await session.snapshot()
  const found = await findServers(
    session,
    snapshot,
    what,
    options.scope === undefined ? undefined : writeScope(options.scope),
  )
  const wanted = found.filter((it) => it.state === 'new' || (options.force && it.state === 'differs'))
  const data = (written: readonly Found[]) => ({
    found: found.map(({ entry, ...rest }) => ({ ...rest, config: maskSecrets(entry) })),
    imported: written.map((it) => it.name),
  })
  if (found.length === 0) {
    out.answer(data([]), () => 'No servers of other tools were found.')
    return
  }
  if (!out.json) for (const line of [...table(session, found), ...reviews(session, wanted)]) out.note(line)
  if (wanted.length === 0 || options['dry-run']) {
    out.answer(data([]), () =>
      wanted.length === 0 ? 'Nothing new to take over.' : `${wanted.length} would be taken over.`,
    )
    return
  }
  const agreed =
    options.yes || (canAsk() && !out.json && (await confirm(`Take over ${wanted.length}?`, session.signal)))
  if (!agreed)
    throw new Fault('NOT_TRUSTED', 'nothing was taken over', {
      hint: canAsk() ? undefined : 'nobody can be asked here; run it in a terminal, or add --yes',
    })
  const edits = [...new Set(wanted.map((it) => it.scope))].map((scope) => ({
    target: writeTarget(session, snapshot, scope),
    plan: (file: Target) =>
      wanted.filter((it) => it.scope === scope).flatMap((it) => addServer(file, it.name, it.entry)),
    meant: { servers: wanted.map((it) => it.name) },
  }))
  await makeEdits(
    session,
    snapshot,
    edits,
    wanted.map((it) => it.name),
  )
  out.answer(data(wanted), () => [
    `Took over ${wanted.map((it) => it.name).join(', ')}.`,
    'See them: busbar list',
  ])
}

/** Servers in a file that are not known here yet. */
export async function newServers(session: Session, snapshot: Snapshot, file: string): Promise<Found[]> {
  if (!existsSync(file)) return []
  return (await findServers(session, snapshot, file, undefined)).filter((it) => it.state === 'new')
}

// --- internal ---

/** The servers of a client, of a file, or of all clients, each with whether it is known here already. */
async function findServers(
  session: Session,
  snapshot: Snapshot,
  what: string | undefined,
  scope: WriteScope | undefined,
): Promise<Found[]> {
  const found = new Map<string, Found>()
  for (const client of chosen(snapshot, what))
    for (const { file, scope: own } of client.files) {
      if (!existsSync(file)) continue
      const theirs = await loadConfig({ cwd: snapshot.root, env: snapshot.env, config: file })
      for (const problem of theirs.problems)
        if (problem.file === file) session.out.warn(problemLine({ ...problem, severity: 'warning' }))
      for (const entry of theirs.servers.values()) {
        const made = toImport(entry, client, file, scope ?? own, snapshot)
        if (!made) continue
        const other = found.get(made.name)
        if (other && canonical(other.entry) === canonical(made.entry)) continue
        // Two tools, two servers, one name: both are offered.
        const name = other ? `${made.name}-${client.id}` : made.name
        if (!found.has(name))
          found.set(name, { ...made, name, state: stateOf(name, made.entry, entry, file, snapshot) })
      }
    }
  return [...found.values()]
}

function chosen(snapshot: Snapshot, what: string | undefined): Client[] {
  const clients = clientsOf(snapshot.places, snapshot.root)
  if (what === undefined) return clients
  const client = clients.find((it) => it.id === what)
  if (client) return [client]
  const file = absolute(what, process.cwd(), snapshot.places.home)
  if (existsSync(file)) return [{ id: 'file', title: nearPath(file), files: [{ file, scope: 'project' }] }]
  const near = nearest(
    what,
    clients.map((it) => it.id),
  )
  throw new Fault('USAGE', `"${what}" is neither a known client nor a file`, {
    hint: near ? `did you mean: busbar import ${near}` : `clients: ${clients.map((it) => it.id).join(', ')}`,
  })
}

function toImport(
  entry: ServerEntry,
  client: Client,
  file: string,
  scope: WriteScope,
  snapshot: Snapshot,
): Omit<Found, 'state'> | undefined {
  if (!entry.definition || !entry.tree) return undefined
  const { name, entry: definition } = importable(entry.name, plain(entry.tree), rootOf(file), snapshot.root)
  const transport = transportOf(entry.definition) ?? 'stdio'
  return { name, client: client.title, file, scope, entry: definition, transport }
}

function stateOf(
  name: string,
  definition: Record<string, unknown>,
  theirs: ServerEntry,
  file: string,
  snapshot: Snapshot,
): Found['state'] {
  // What is read in place already (an extended or default file) need not be copied.
  const standing = snapshot.servers.get(theirs.name)
  if (standing?.sources.some((source) => source.file === file)) return 'same'
  const existing = snapshot.servers.get(name)
  if (!existing?.tree) return existing ? 'differs' : 'new'
  const now = importable(name, plain(existing.tree), snapshot.root, snapshot.root).entry
  return canonical(now) === canonical(definition) ? 'same' : 'differs'
}

/** What the table has no room for: everything that counts once it is trusted. */
function reviews({ out }: Session, wanted: readonly Found[]): string[] {
  return wanted.flatMap((it) => {
    const parsed = serverSchema.safeParse(it.entry)
    const body = reviewServer({ parts: it.entry, definition: parsed.success ? parsed.data : undefined }, out)
    return [out.style('bold', oneLine(it.name)), ...body, '']
  })
}

function table(session: Session, found: readonly Found[]): string[] {
  return [
    ...session.out.table(
      ['NAME', 'TRANSPORT', 'FROM', 'RUNS OR REACHES', 'TO', 'STATE'],
      found.map((it) => {
        const { command, args, url } = Object(maskSecrets(it.entry))
        const target = url ?? [command, ...(args ?? [])].join(' ')
        const state =
          it.state === 'differs' ? 'differs (--force replaces)' : it.state === 'same' ? 'here already' : 'new'
        return [it.name, it.transport, it.client, target, it.scope, state]
      }),
    ),
    '',
  ]
}
