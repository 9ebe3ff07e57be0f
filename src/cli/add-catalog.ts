// A server of the catalog, written down with an exact version.

import { execFile } from 'node:child_process'
import { homedir } from 'node:os'
import { Fault } from '../base/fault.ts'
import { nearest } from '../base/suggest.ts'
import { CATALOG, type CatalogEntry, catalogEntry, pinnedArgs } from '../config/catalog.ts'
import { type AddOptions, addTyped } from './add-server.ts'
import type { Session } from './session.ts'

const REGISTRY_TIMEOUT_MS = 20_000

/** Adds a catalog server; `latest` becomes the version that is newest now. */
export async function addFromCatalog(session: Session, name: string, options: AddOptions): Promise<void> {
  const entry = catalogNamed(name)
  const version = await exactVersion(session, entry)
  const { command, env, description, category } = entry
  const definition = {
    command,
    args: pinnedArgs(entry, version),
    ...(Object.keys(env).length > 0 ? { env: { ...env } } : {}),
    description,
    category,
  }
  await addTyped(session, name, definition, options)
}

/** The catalog entry by that name, or the fault that says which there are. */
function catalogNamed(name: string): CatalogEntry {
  const entry = catalogEntry(name)
  if (entry) return entry
  const names = CATALOG.map((it) => it.name)
  const near = nearest(name, names)
  throw new Fault('SERVER_UNKNOWN', `the catalog has no server called "${name}"`, {
    server: name,
    hint: near ? `did you mean "${near}"?` : `there are: ${names.join(', ')}`,
  })
}

// --- internal ---

async function exactVersion(session: Session, entry: CatalogEntry): Promise<string> {
  const { registry, name, version, known } = entry.package
  if (version !== 'latest') return version
  if (registry !== 'npm') return known
  session.out.note(session.out.style('dim', `looking up the newest ${name} …`))
  const found = await npmVersion(name, session.signal)
  if (found !== undefined) return found
  session.out.warn(
    `the npm registry did not answer; ${name} is pinned to ${known}, the newest when this Busbar was made`,
  )
  return known
}

/**
 * Asks through npm, because it knows the person's registry, proxy and credentials. In the home folder: a repository's
 * own .npmrc could send them elsewhere.
 */
function npmVersion(name: string, signal: AbortSignal): Promise<string | undefined> {
  return new Promise((resolve) => {
    const options = { timeout: REGISTRY_TIMEOUT_MS, signal, windowsHide: true, cwd: homedir() }
    execFile('npm', ['view', name, 'version', '--json'], options, (error, stdout) => {
      const version = error ? undefined : /"(\d[\w.+-]*)"/.exec(stdout)?.[1]
      resolve(version)
    })
  })
}
