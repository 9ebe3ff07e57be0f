// What every command starts from: the global options, the output, and the configuration read once.

import { type Code, Fault } from '../base/fault.ts'
import { effective } from '../config/effective.ts'
import { graveProblems } from '../config/grave.ts'
import { errorsOf, type LoadOptions, loadConfig } from '../config/load.ts'
import { configFault, problemLine } from '../config/problem.ts'
import type { Snapshot } from '../config/snapshot.ts'
import { missingWarnings } from '../config/status.ts'
import { recordTrust, type Subject, trustSubjects } from '../config/trust.ts'
import type { Entry } from './commands.ts'
import { nearPath } from './describe.ts'
import type { Interrupt } from './interrupt.ts'
import { Output } from './output.ts'

export interface GlobalOptions {
  readonly json?: boolean
  readonly config?: string
  readonly 'mcp-server'?: readonly string[]
  readonly trust?: boolean
  readonly 'no-color'?: boolean
}

export interface Loaded {
  readonly snapshot: Snapshot
  readonly subjects: readonly Subject[]
  /** What may be acted on; `snapshot` is all that is written. */
  readonly active: Snapshot
}

export class Session {
  readonly out: Output
  readonly options: GlobalOptions
  readonly signal: AbortSignal

  /** All commands, for completion. */
  readonly commands: readonly Entry[]

  readonly #interrupt: Interrupt
  /** Files that were read last and are broken. */
  #broken: readonly string[] = []

  constructor(options: GlobalOptions, interrupt: Interrupt, commands: readonly Entry[]) {
    this.options = options
    this.commands = commands
    this.signal = interrupt.signal
    this.#interrupt = interrupt
    this.out = new Output({ json: options.json === true, color: useColor(options) })
  }

  /** Until the returned function is called, Ctrl-C only aborts `signal`, and the command ends by itself. */
  hold(): () => void {
    return this.#interrupt.hold()
  }

  get loadOptions(): LoadOptions {
    return { config: this.options.config, servers: this.options['mcp-server'] }
  }

  /** Reads the configuration and says, once, what a person should know about it. */
  async load(say: { warnings?: boolean } = {}): Promise<Loaded> {
    const snapshot = await loadConfig(this.loadOptions)
    this.#note(snapshot)
    const subjects = await this.accepted(snapshot, this.subjects(snapshot))
    for (const problem of snapshot.problems) if (problem.severity === 'warning') this.out.problem(problem)
    if (say.warnings !== false) for (const warning of missingWarnings(snapshot)) this.out.problem(warning)
    const active = effective(snapshot, subjects)
    if (!active.config.enabled) this.out.warn(offNotice(active))
    return { snapshot, subjects, active }
  }

  /** The configuration before an edit. */
  async snapshot(): Promise<Snapshot> {
    const snapshot = await loadConfig(this.loadOptions)
    this.#note(snapshot)
    if (!snapshot.config.enabled) this.out.warn(offNotice(snapshot))
    return snapshot
  }

  /** Where a file cannot be read nobody can say that something is not there; anything else as it is. */
  explained(error: unknown): unknown {
    const [file] = this.#broken
    if (!(error instanceof Fault) || file === undefined || !MISSING.has(error.code)) return error
    const message = `${error.message} in what can be read; ${nearPath(file)} cannot`
    return new Fault(error.code, message, { hint: 'run: busbar config check', cause: error })
  }

  #note({ looked }: Snapshot): void {
    this.#broken = looked.flatMap(({ file, state }) => (state === 'broken' ? [file] : []))
  }

  /** With `--trust` everything counts as trusted from now on; without it nothing changes. */
  async accepted(snapshot: Snapshot, subjects: readonly Subject[]): Promise<readonly Subject[]> {
    if (!this.options.trust) return subjects
    await recordTrust(
      snapshot.places,
      subjects.filter((subject) => subject.state !== 'trusted'),
    )
    return trustSubjects(snapshot)
  }

  /** A trust file that cannot be relied on means that nothing is trusted; the rest goes on. */
  subjects(snapshot: Snapshot): readonly Subject[] {
    try {
      return trustSubjects(snapshot)
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      this.out.warn(`${error.message}; nothing counts as trusted (${error.hint})`)
      return []
    }
  }
}

const MISSING: ReadonlySet<Code> = new Set<Code>(['AGENT_UNKNOWN', 'SERVER_UNKNOWN'])

/** Ends the command with exit 1 when the configuration has errors; what could be shown has been shown. */
export function failOnErrors(snapshot: Snapshot): void {
  const errors = errorsOf(snapshot)
  if (errors.length > 0) throw configFault(errors)
}

/**
 * For what runs for long: ends the command where going on could give somebody more than the files mean to; every other
 * error is told, and costs only itself.
 */
export function startDespiteErrors(snapshot: Snapshot, { warn }: { warn(text: string): void }): void {
  const grave = graveProblems(snapshot)
  if (grave.length > 0) throw configFault(grave)
  for (const problem of errorsOf(snapshot)) warn(problemLine(problem))
}

// --- internal ---

function useColor({ 'no-color': plain, json }: GlobalOptions): boolean {
  if (json || plain || process.env['NO_COLOR']) return false
  return Boolean(process.stdout.isTTY) || process.env['FORCE_COLOR'] === '1'
}

function offNotice(snapshot: Snapshot): string {
  const tree = snapshot.tree.kind === 'map' ? snapshot.tree.entries.get('enabled') : undefined
  const line = tree?.place.origin.position(tree.place.path)?.line
  const where = tree ? ` (${tree.place.origin.file}${line ? `:${line}` : ''})` : ''
  return `integrations are off${where}: no server starts`
}
