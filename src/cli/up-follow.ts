// A running gateway follows its configuration, and what a person trusts of it.

import { watch } from 'node:fs'
import { Fault } from '../base/fault.ts'
import type { Places } from '../base/places.ts'
import { effective } from '../config/effective.ts'
import { graveProblems } from '../config/grave.ts'
import { keepTrusted, stillTrusted } from '../config/last-trusted.ts'
import { type Problem, problemLine } from '../config/problem.ts'
import type { GatewaySettings } from '../config/schema-gateway.ts'
import type { Snapshot } from '../config/snapshot.ts'
import { configDigest } from '../config/snapshot-digest.ts'
import { withoutThoseOff } from '../config/switched-off.ts'
import { type Subject, TRUST_FILE, trustSubjects } from '../config/trust.ts'
import { watchConfig } from '../config/watch.ts'
import type { Standing } from '../gateway/api-types.ts'
import type { Gateway } from '../gateway/gateway.ts'
import type { Hub } from '../hub.ts'
import type { Session } from './session.ts'

/** Milliseconds that an edit has to become a trusted one. */
const PATIENCE = 1_000

export interface Telling {
  warn(text: string): void
  note(text: string): void
}

/** A gateway that follows its configuration. */
export interface Following {
  /** Looks at the files now, takes over what they say, and tells how they stand. */
  look(): Promise<Standing>
  /** Whether an agent or worker is in what is written and trusted, and would be in force but for something else there. */
  isWritten(agent: string): boolean
  close(): void
}

export async function follow(
  session: Session,
  hub: Hub,
  gateway: Gateway,
  /** What of the configuration a flag has replaced, so that a change of it says nothing. */
  flags: { readonly host?: string | undefined; readonly port?: number | undefined },
  { warn, note }: Telling,
): Promise<Following> {
  let patience: NodeJS.Timeout | undefined
  /** Why the answers to what is trusted cannot be read; told once. */
  let unread = ''
  const began = hub.snapshot.config.gateway
  let restart = ''
  /** What was taken over last, and why it was not, if so. */
  let taken:
    | { readonly snapshot: Snapshot; readonly subjects: readonly Subject[]; readonly written: Snapshot }
    | undefined
  let fault: readonly string[] = []
  /** What was trusted of what is in force when that was taken over. */
  let accepted = judge(hub.snapshot)
  /** How often something was taken over, or tried to be. */
  let takes = 0
  let closed = false
  const waiting: (() => void)[] = []
  const config = await watchConfig(session.loadOptions, (event) => {
    if (event.kind === 'applied') {
      if (event.isMended) note('the files are in order again')
      consider(event.snapshot)
    } else {
      tellRefused(event.problems)
      // Whom it switches off is off all the same.
      consider(config.current)
    }
  })
  const read = { snapshot: config.current, subjects: judge(config.current) }
  // Somebody may have written between the reading that it started with and the watching.
  if (configDigest(effective(read.snapshot, read.subjects)) === configDigest(hub.snapshot))
    taken = { ...read, written: config.written }
  else consider(read.snapshot)
  const trust = watchTrust(hub.places, () => consider(config.current))
  return {
    look: async () => {
      const before = takes
      await config.look()
      // What is trusted may be something else, and what was taken over the same.
      if (takes === before) consider(config.current)
      if (patience !== undefined) await new Promise<void>((resolve) => waiting.push(resolve))
      return {
        files: config.files,
        refused: [...config.refused.map(problemLine), ...fault],
        untrusted: (taken?.subjects ?? [])
          .filter(({ state }) => state !== 'trusted')
          .map(({ kind, name, file, state }) => ({ kind, name, file, isNew: state === 'new' })),
      }
    },
    isWritten: (agent) =>
      fault.length > 0 &&
      effective(config.written, judge(config.written)).assignments.some(({ id }) => id === agent),
    close: () => {
      closed = true
      settle()
      config.close()
      trust()
    },
  }

  /** Nothing is waited for any more. */
  function settle(): void {
    clearTimeout(patience)
    patience = undefined
    for (const go of waiting.splice(0)) go()
  }

  function tellRefused(problems: readonly Problem[]): void {
    warn('the change was refused; the last good configuration stays:')
    for (const problem of problems) warn(problemLine(problem))
  }

  /** A command of ours writes a file, and that it is trusted; whichever is heard of first, nothing may stop in between. */
  function consider(snapshot: Snapshot): void {
    if (closed) return
    const subjects = subjectsOf(snapshot)
    const known = new Set(taken?.subjects.filter(({ state }) => state !== 'trusted').map(({ key }) => key))
    // What was not in force before does not stop either.
    const isClear = subjects.every(({ state, key }) => state === 'trusted' || known.has(key))
    if (isClear) take(snapshot)
    // Whoever writes all the time must not keep an edit from being taken over.
    else patience ??= setTimeout(() => take(config.current), PATIENCE)
  }

  function take(snapshot: Snapshot): void {
    takes += 1
    const subjects = subjectsOf(snapshot)
    const { written } = config
    const isNews =
      taken?.snapshot !== snapshot ||
      fault.length > 0 ||
      !isSame(statesOf(taken.subjects), statesOf(subjects))
    if (isNews || taken?.written !== written) {
      fault = takeNew(snapshot, subjects, isNews ? warn : () => undefined)
      taken = { snapshot, subjects, written }
    }
    settle()
  }

  /** Answers that cannot be read are none, until they can be. */
  function judge(snapshot: Snapshot): readonly Subject[] {
    try {
      const subjects = trustSubjects(snapshot)
      unread = ''
      return subjects
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      if (unread !== error.message) warn(`${error.message}; nothing counts as trusted (${error.hint})`)
      unread = error.message
      return []
    }
  }

  /** While newer files are refused, what is in force is trusted as long as a person trusts the file. */
  function subjectsOf(snapshot: Snapshot): readonly Subject[] {
    const subjects = judge(snapshot)
    if (taken?.snapshot !== snapshot || config.written === snapshot) return subjects
    return stillTrusted(subjects, accepted)
  }

  /** Tells why it was refused, if so. */
  function takeNew(
    snapshot: Snapshot,
    subjects: readonly Subject[],
    tell: (text: string) => void,
  ): readonly string[] {
    const { written } = config
    const now = { snapshot: written, subjects: judge(written) }
    // What was harmless while nobody trusted its file may not be so any more.
    const grave = graveProblems(snapshot)
    if (grave.length > 0) {
      tellRefused(grave)
      takeOver(withoutThoseOff(hub.snapshot, now), false)
      return grave.map(problemLine)
    }
    const before = {
      snapshot: hub.snapshot,
      subjects: stillTrusted(judge(hub.snapshot), accepted),
    }
    const kept = keepTrusted({ snapshot, subjects }, before)
    const open = subjects.filter(({ state }) => state !== 'trusted').map(({ name }) => name)
    if (open.length > 0) tell(`not trusted, so not in force: ${open.join(', ')}; run: busbar trust`)
    for (const file of kept.files)
      tell(`until then the settings of ${file} that you trusted last stay in force`)
    // Settings that are not trusted are not there, which does not mean that somebody changed them back.
    const isWhole = subjects.every(({ kind, state }) => kind !== 'settings' || state === 'trusted')
    const trusted = kept.files.length === 0 ? subjects : stillTrusted(judge(kept.snapshot), accepted)
    const isAsWritten = kept.files.length === 0 && written === snapshot
    try {
      const active = effective(kept.snapshot, trusted)
      takeOver(isAsWritten ? active : withoutThoseOff(active, now), isWhole)
      accepted = trusted
      return []
    } catch (error) {
      const hint = error instanceof Fault && error.hint !== undefined ? ` (${error.hint})` : ''
      const reason = error instanceof Error ? `${error.message}${hint}` : String(error)
      tell(`the change was refused: ${reason}`)
      takeOver(withoutThoseOff(hub.snapshot, now), false)
      return [reason]
    }
  }

  function takeOver(active: Snapshot, isWhole: boolean): void {
    const before = hub.snapshot.config.gateway
    // First the tokens, because two agents with one token make the whole change void.
    gateway.update(active)
    const { added, changed, removed } = hub.follow(active)
    gateway.recheck()
    const part = (word: string, names: readonly string[]) =>
      names.length > 0 ? [`${word} ${names.join(', ')}`] : []
    const now = active.config.gateway
    const parts = [
      ...part('added', added),
      ...part('changed', changed),
      ...part('removed', removed),
      ...part('now in force', inForce(before, now)),
    ]
    if (parts.length > 0) note(`configuration taken over: ${parts.join('; ')}`)
    if (!isWhole) return
    const later = needRestart(began, now, flags).join(', ')
    if (later !== '' && later !== restart) warn(`restart to apply: ${later}`)
    restart = later
  }
}

/** Settings that hold from one moment to the next, by name, where they differ. */
export function inForce(before: GatewaySettings, now: GatewaySettings): string[] {
  const all = new Set([...Object.keys(before.limits), ...Object.keys(now.limits)])
  const names = [...all].filter(
    (name) => !FIXED_LIMITS.has(name) && !isSame(limit(before, name), limit(now, name)),
  )
  return [
    ...(isSame(before.allowedHosts, now.allowedHosts) ? [] : ['gateway.allowedHosts']),
    ...names.map((name) => `gateway.limits.${name}`),
  ]
}

/** Settings that only a start reads, by name, where they differ from those it was started with. */
export function needRestart(
  began: GatewaySettings,
  now: GatewaySettings,
  flags: { readonly host?: string | undefined; readonly port?: number | undefined } = {},
): string[] {
  return [
    ...(flags.host === undefined && began.host !== now.host ? ['gateway.host'] : []),
    ...(flags.port === undefined && began.port !== now.port ? ['gateway.port'] : []),
    ...[...FIXED_LIMITS]
      .filter((name) => !isSame(limit(began, name), limit(now, name)))
      .map((name) => `gateway.limits.${name}`),
  ]
}

// --- internal ---

function statesOf(subjects: readonly Subject[]): object {
  return subjects.map(({ key, state, changed }) => [key, state, changed])
}

/** Node is told these when a server is made. */
const FIXED_LIMITS: ReadonlySet<string> = new Set(['headers', 'receive'])

function limit({ limits }: GatewaySettings, name: string): unknown {
  return Object.entries(limits).find(([key]) => key === name)?.[1]
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

/** Calls back when a person has answered what is trusted; returns how to stop. */
function watchTrust({ state }: Places, onAnswer: () => void): () => void {
  let timer: NodeJS.Timeout | undefined
  const watcher = watch(state, (_, file) => {
    if (file !== TRUST_FILE) return
    clearTimeout(timer)
    timer = setTimeout(onAnswer, 50)
  })
  // Without news of answers it is as before: they count after the next edit.
  watcher.on('error', () => watcher.close())
  return () => {
    clearTimeout(timer)
    watcher.close()
  }
}
