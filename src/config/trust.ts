// Trust by content: what a project's file, or another tool's, would run, loosen or open is inert until a person has
// accepted exactly that. Each server is one question, the rest of a file (agents, approval, gateway …) another.

import { join } from 'node:path'
import * as z from 'zod/mini'
import { hmacSha256, randomHex, sha256 } from '../base/digest.ts'
import type { Places } from '../base/places.ts'
import { isRecord } from '../base/record.ts'
import { readState, updateState } from '../base/state-file.ts'
import { type Binary, commandFinder, type Finder, identify } from './binary.ts'
import { canonical } from './canonical.ts'
import { locateCommand, locateEnvFile, readIfFile } from './command.ts'
import type { Source } from './layer.ts'
import type { Server } from './schema-server.ts'
import type { ServerEntry, Snapshot } from './snapshot.ts'
import { realPath } from './sources.ts'
import { plain, type Tree, without } from './tree.ts'

/** Where the answers are kept, in the state folder. */
export const TRUST_FILE = 'trust.json'

/** One thing a person can trust. */
export interface Subject {
  readonly kind: 'server' | 'settings'
  /** `server:FILE:NAME` or `settings:FILE`. */
  readonly key: string
  readonly name: string
  readonly file: string
  /** Every file with a part in it that nobody vouches for yet. */
  readonly files: readonly string[]
  readonly state: 'trusted' | 'new' | 'changed'
  /** For a changed one: which parts differ from what was trusted. */
  readonly changed: readonly string[]
  /** What would be agreed to. Made only when asked for: telling that something is new needs none of it. */
  readonly content: () => Content
}

/** What is agreed to, and remembered. */
export interface Content {
  /** As data, part by part; each part's digest is what is remembered. */
  readonly parts: Readonly<Record<string, unknown>>
  /** The program a server's command stands for. */
  readonly binary: Binary | undefined
}

/** Parts of an entry that neither run, loosen nor open anything. */
export const HARMLESS: ReadonlySet<string> = new Set(['enabled', 'description', 'category'])

const recordSchema = z.object({
  at: z.string(),
  /** Of all parts together: one comparison tells that nothing changed. */
  whole: z.string(),
  /** Of each part, to say which one changed. */
  parts: z.record(z.string(), z.string()),
  binary: z.optional(
    z.object({ path: z.optional(z.string()), digest: z.optional(z.string()), stamp: z.optional(z.string()) }),
  ),
})
const stateSchema = z.object({
  version: z.literal(1),
  salt: z.string().check(z.minLength(32)),
  trusted: z.record(z.string(), recordSchema),
})
export type TrustState = z.output<typeof stateSchema>
type Recorded = z.output<typeof recordSchema>

/** Everything in a snapshot that needs trust, with its state. Reads the trust file, writes nothing. */
export function trustSubjects(snapshot: Snapshot): Subject[] {
  const state = readTrust(snapshot.places)
  const finder = commandFinder()
  const servers = [...snapshot.servers.values()].flatMap((entry) =>
    serverSubject(entry, snapshot, state, finder),
  )
  const settings = snapshot.layers.flatMap(({ source, tree }) => settingsSubject(source, tree, state))
  return [...servers, ...settings]
}

/** Whether Busbar may act on a server: nothing asks about it, or a person has answered. */
export function isTrusted(entry: ServerEntry, subjects: readonly Subject[]): boolean {
  const subject = subjects.find((it) => it.kind === 'server' && it.name === entry.name)
  return subject ? subject.state === 'trusted' : entry.sources.every((source) => source.trusted)
}

/** Remembers that a person accepted these subjects as they are. */
export async function recordTrust(
  places: Places,
  accepted: readonly Pick<Subject, 'key' | 'content'>[],
): Promise<void> {
  if (accepted.length === 0) return
  await updateTrust(places, (state) => {
    const trusted = { ...state.trusted }
    for (const { key, content } of accepted) {
      const { parts, binary } = content()
      trusted[key] = {
        at: new Date().toISOString(),
        whole: hmacSha256(state.salt, canonical(parts)),
        parts: digests(parts, state.salt),
        ...(binary ? { binary: withoutAbsent(binary) } : {}),
      }
    }
    return { ...state, trusted }
  })
}

/** Forgets subjects, so that they are asked for again. */
export async function forgetTrust(places: Places, keys: readonly string[]): Promise<void> {
  await updateTrust(places, (state) => ({
    ...state,
    trusted: Object.fromEntries(Object.entries(state.trusted).filter(([key]) => !keys.includes(key))),
  }))
}

/** What was accepted so far; a fault when the file cannot be relied on. */
export function readTrust(places: Places): TrustState {
  // Where there is no file there is nothing to compare, so a salt need not be made.
  const nothing = (): TrustState => ({ version: 1, salt: '', trusted: {} })
  return readState(trustFile(places), (value) => stateSchema.parse(value), nothing)
}

/** A file's settings as one question, or none when it says nothing beyond its servers. */
export function settingsSubject(source: Source, tree: Tree, state: TrustState): Subject[] {
  const settings = plain(without(tree, ['servers']))
  if (source.trusted || !isRecord(settings)) return []
  const parts = Object.fromEntries(Object.entries(settings).filter(([key]) => key !== 'version'))
  if (Object.keys(parts).length === 0) return []
  const file = realPath(source.file)
  const key = `settings:${file}`
  const content = (): Content => ({ parts, binary: undefined })
  const place = { kind: 'settings' as const, key, name: file, file: source.file, files: [source.file] }
  return [{ ...place, content, ...compare(content, state.trusted[key], state) }]
}

/** The key under which a server of a file is remembered. */
export function serverKey(source: Source, name: string): string {
  return `server:${realPath(source.file)}:${name}`
}

/** What running a server as written means. `written`: the entry as data; `server`: the same with defaults. */
export function serverContent(
  written: unknown,
  server: Server,
  source: Source,
  snapshot: Pick<Snapshot, 'env' | 'places'>,
  { before, finder }: { readonly before?: Recorded['binary']; readonly finder?: Finder } = {},
): Content {
  const root = realPath(source.root)
  const ground = { env: snapshot.env, root, home: snapshot.places.home }
  const parts: Record<string, unknown> = { root }
  for (const [part, value] of Object.entries(isRecord(written) ? written : {}))
    if (!HARMLESS.has(part)) parts[part] = value
  const envFile = locateEnvFile(server, ground)
  if (envFile !== undefined) {
    const text = readIfFile(envFile)
    parts['envFile content'] = text === undefined ? null : sha256(text)
  }
  const located = locateCommand(server, ground)
  const known = before && { path: before.path, digest: before.digest, stamp: before.stamp }
  const binary =
    located && identify(located.command, { ...located, root, before: known, ...(finder ? { finder } : {}) })
  if (binary) parts['binary'] = { path: binary.path ?? null, digest: binary.digest ?? null }
  return { parts, binary }
}

// --- internal ---

function trustFile(places: Places): string {
  return join(places.state, TRUST_FILE)
}

async function updateTrust(places: Places, change: (state: TrustState) => TrustState): Promise<void> {
  const empty = (): TrustState => ({ version: 1, salt: randomHex(32), trusted: {} })
  await updateState(trustFile(places), (value) => stateSchema.parse(value), empty, change)
}

/** Remembered under the file that defines it, so that a line elsewhere that only switches it asks nothing. */
function serverSubject(entry: ServerEntry, snapshot: Snapshot, state: TrustState, finder: Finder): Subject[] {
  const asking = entry.sources.filter((source) => !source.trusted)
  const [source] = asking
  const { definition, name } = entry
  if (source === undefined || definition === undefined) return []
  const key = serverKey(source, name)
  const recorded = state.trusted[key]
  const written = entry.tree && entry.name !== 'composio' ? plain(entry.tree) : definition
  const content = once(() =>
    serverContent(written, definition, source, snapshot, { before: recorded?.binary, finder }),
  )
  const place = { kind: 'server' as const, key, name, file: source.file, files: asking.map((it) => it.file) }
  return [{ ...place, content, ...compare(content, recorded, state) }]
}

function compare(
  content: () => Content,
  recorded: Recorded | undefined,
  state: TrustState,
): Pick<Subject, 'state' | 'changed'> {
  if (recorded === undefined) return { state: 'new', changed: [] }
  const { parts } = content()
  if (hmacSha256(state.salt, canonical(parts)) === recorded.whole) return { state: 'trusted', changed: [] }
  const now = digests(parts, state.salt)
  const names = new Set([...Object.keys(now), ...Object.keys(recorded.parts)])
  const changed = [...names].filter((name) => now[name] !== recorded.parts[name])
  return { state: 'changed', changed }
}

/** Salted, because parts hold values that may be secrets and could be guessed from a plain digest. */
function digests(parts: Readonly<Record<string, unknown>>, salt: string): Record<string, string> {
  return Object.fromEntries(
    Object.entries(parts).map(([name, value]) => [name, hmacSha256(salt, `${name}\n${canonical(value)}`)]),
  )
}

function withoutAbsent(binary: Binary): Recorded['binary'] {
  return {
    ...(binary.path === undefined ? {} : { path: binary.path }),
    ...(binary.digest === undefined ? {} : { digest: binary.digest }),
    ...(binary.stamp === undefined ? {} : { stamp: binary.stamp }),
  }
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
