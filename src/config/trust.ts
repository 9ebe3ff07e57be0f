// Trust by content: what a project's file, or another tool's, would run, loosen or open is inert until a person has
// accepted exactly that. Each server is one question, the rest of a file (agents, approval, gateway …) another.

import { join, resolve } from 'node:path'
import * as z from 'zod/mini'
import { hmacSha256, randomHex } from '../base/digest.ts'
import type { Places } from '../base/places.ts'
import { readState, updateState } from '../base/state-file.ts'
import { type Binary, identify } from './binary.ts'
import { canonical } from './canonical.ts'
import { expandText } from './expand.ts'
import { isRecord } from './formats/shape.ts'
import type { ServerEntry, Snapshot } from './snapshot.ts'
import { realPath } from './sources.ts'
import { plain, without } from './tree.ts'

/** One thing a person can trust. */
export interface Subject {
  readonly kind: 'server' | 'settings'
  /** `server:FILE:NAME` or `settings:FILE`. */
  readonly key: string
  readonly name: string
  readonly file: string
  readonly state: 'trusted' | 'new' | 'changed'
  /** For a changed one: which parts differ from what was trusted. */
  readonly changed: readonly string[]
  /** What would be agreed to. Made only when asked for: telling that something is new needs none of it. */
  readonly content: () => Content
}

interface Content {
  /** As data, part by part; each part's digest is what is remembered. */
  readonly parts: Readonly<Record<string, unknown>>
  /** The program a server's command stands for. */
  readonly binary: Binary | undefined
}

/** Parts of an entry that neither run, loosen nor open anything. */
const HARMLESS = new Set(['enabled', 'description', 'category'])

const recordSchema = z.object({
  at: z.string(),
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
type State = z.output<typeof stateSchema>
type Recorded = z.output<typeof recordSchema>

/** Everything in a snapshot that needs trust, with its state. Reads the trust file, writes nothing. */
export function trustSubjects(snapshot: Snapshot): Subject[] {
  const state = readTrust(snapshot.places)
  const servers = [...snapshot.servers.values()].flatMap((entry) => serverSubject(entry, snapshot, state))
  return [...servers, ...settingsSubjects(snapshot, state)]
}

/** Remembers that a person accepted these subjects as they are. */
export async function recordTrust(places: Places, subjects: readonly Subject[]): Promise<void> {
  if (subjects.length === 0) return
  await update(places, (state) => {
    const trusted = { ...state.trusted }
    for (const subject of subjects) {
      const { parts, binary } = subject.content()
      trusted[subject.key] = {
        at: new Date().toISOString(),
        parts: digests(parts, state.salt),
        ...(binary ? { binary: withoutAbsent(binary) } : {}),
      }
    }
    return { ...state, trusted }
  })
}

/** Forgets subjects, so that they are asked for again. */
export async function forgetTrust(places: Places, keys: readonly string[]): Promise<void> {
  await update(places, (state) => ({
    ...state,
    trusted: Object.fromEntries(Object.entries(state.trusted).filter(([key]) => !keys.includes(key))),
  }))
}

/**
 * After an edit that a person typed: what they named is trusted, and what was trusted before the edit stays so. A file's
 * settings count as typed when the file had none before.
 */
export async function keepTrust(before: Snapshot, after: Snapshot, typed: readonly string[]): Promise<void> {
  const earlier = new Map(trustSubjects(before).map((subject) => [subject.key, subject.state]))
  const accepted = trustSubjects(after).filter((subject) => {
    if (subject.state === 'trusted') return false
    if (subject.kind === 'server' && typed.includes(subject.name)) return true
    const state = earlier.get(subject.key)
    return state === 'trusted' || (state === undefined && subject.kind === 'settings')
  })
  await recordTrust(after.places, accepted)
}

// --- internal ---

function trustFile(places: Places): string {
  return join(places.state, 'trust.json')
}

function empty(): State {
  return { version: 1, salt: randomHex(32), trusted: {} }
}

function readTrust(places: Places): State {
  // Where there is no file there is nothing to compare, so a salt need not be made.
  const nothing = (): State => ({ version: 1, salt: '', trusted: {} })
  return readState(trustFile(places), (value) => stateSchema.parse(value), nothing)
}

async function update(places: Places, change: (state: State) => State): Promise<void> {
  await updateState(trustFile(places), (value) => stateSchema.parse(value), empty, change)
}

function serverSubject(entry: ServerEntry, snapshot: Snapshot, state: State): Subject[] {
  const asking = entry.sources.filter((source) => !source.trusted)
  const source = asking.at(-1)
  if (source === undefined || entry.definition === undefined) return []
  const file = realPath(source.file)
  const key = `server:${file}:${entry.name}`
  const recorded = state.trusted[key]
  const content = once((): Content => {
    const written = entry.tree ? plain(entry.tree) : entry.definition
    const parts: Record<string, unknown> = { root: realPath(source.root) }
    for (const [part, value] of Object.entries(isRecord(written) ? written : {}))
      if (!HARMLESS.has(part)) parts[part] = value
    const binary = binaryOf(entry, snapshot, source.root, recorded)
    if (binary) parts['binary'] = { path: binary.path ?? null, digest: binary.digest ?? null }
    return { parts, binary }
  })
  return [
    {
      kind: 'server',
      key,
      name: entry.name,
      file: source.file,
      content,
      ...compare(content, recorded, state),
    },
  ]
}

/** What a file says beyond its servers, as one question a file. */
function settingsSubjects(snapshot: Snapshot, state: State): Subject[] {
  return snapshot.layers.flatMap(({ source, tree }): Subject[] => {
    const settings = plain(without(tree, ['servers']))
    if (source.trusted || !isRecord(settings)) return []
    const parts = Object.fromEntries(Object.entries(settings).filter(([key]) => key !== 'version'))
    if (Object.keys(parts).length === 0) return []
    const file = realPath(source.file)
    const key = `settings:${file}`
    const recorded = state.trusted[key]
    const content = (): Content => ({ parts, binary: undefined })
    return [
      { kind: 'settings', key, name: file, file: source.file, content, ...compare(content, recorded, state) },
    ]
  })
}

function compare(
  content: () => Content,
  recorded: Recorded | undefined,
  state: State,
): Pick<Subject, 'state' | 'changed'> {
  if (recorded === undefined) return { state: 'new', changed: [] }
  const now = digests(content().parts, state.salt)
  const names = new Set([...Object.keys(now), ...Object.keys(recorded.parts)])
  const changed = [...names].filter((name) => now[name] !== recorded.parts[name])
  return { state: changed.length === 0 ? 'trusted' : 'changed', changed }
}

/** Salted, because parts hold values that may be secrets and could be guessed from a plain digest. */
function digests(parts: Readonly<Record<string, unknown>>, salt: string): Record<string, string> {
  return Object.fromEntries(
    Object.entries(parts).map(([name, value]) => [name, hmacSha256(salt, `${name}\n${canonical(value)}`)]),
  )
}

function binaryOf(
  entry: ServerEntry,
  snapshot: Snapshot,
  root: string,
  recorded: Recorded | undefined,
): Binary | undefined {
  const { command, cwd, env } = entry.definition ?? {}
  if (command === undefined) return undefined
  const scope = { env: snapshot.env, root, home: snapshot.places.home }
  const text = (value: string) => {
    const expanded = expandText(value, scope)
    return expanded.ok ? expanded.value : value
  }
  const path = env?.['PATH'] === undefined ? snapshot.env['PATH'] : text(env['PATH'])
  const before = recorded?.binary
  return identify(text(command), {
    cwd: cwd === undefined ? root : resolve(root, text(cwd)),
    root,
    path,
    before: before && { path: before.path, digest: before.digest, stamp: before.stamp },
  })
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
