// The store and the recorder of one hub, with what is kept of a call and what must never be: where they are, the key that
// seals the record, and the secrets that are taken out. The regulator of energy is here, too: rows are what it is charged by.

import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { randomHex } from '../base/digest.ts'
import { Fault } from '../base/fault.ts'
import { type Places, prepareFolder, unsafeReason } from '../base/places.ts'
import { scrubber } from '../base/redact.ts'
import type { Snapshot } from '../config/snapshot.ts'
import { allSecrets } from '../connect/secrets.ts'
import { type EnergyChange, Regulator } from '../policy/energy.ts'
import { budgetsOf } from '../policy/energy-report.ts'
import { openStore } from '../store/open.ts'
import type { Store } from '../store/store.ts'
import { Observer } from './observe.ts'
import { Recorder } from './recorder.ts'
import { type RecordLevel, resultForRecord } from './summary.ts'

export class Records {
  readonly store: Store
  readonly recorder: Recorder
  /** Told of what stops no call but should be known. */
  readonly trouble: (message: string) => void
  readonly observer: Observer
  /** Undefined for whoever only asks about the record. */
  readonly energy: Regulator | undefined
  readonly #keeping: Keeping
  /** Those of now, then those of before. */
  #secrets: readonly string[] = []

  private constructor(
    store: Store,
    recorder: Recorder,
    keeping: Keeping,
    trouble: (message: string) => void,
    onEnergy: ((change: EnergyChange) => void) | undefined,
  ) {
    this.store = store
    this.recorder = recorder
    this.#keeping = keeping
    this.trouble = trouble
    this.observer = new Observer(recorder)
    this.energy =
      onEnergy &&
      Regulator.open({
        store,
        owner: recorder.owner,
        flush: () => recorder.flush(),
        onChange: onEnergy,
        onTrouble: trouble,
      })
  }

  /** `onEnergy` is told when an agent's state changes; who makes no calls leaves it out, and regulates nothing. */
  static async open(
    active: Snapshot,
    trouble: (message: string) => void,
    onEnergy?: (change: EnergyChange) => void,
  ): Promise<Records> {
    if (active.config.store !== 'sqlite')
      throw new Fault('NOT_SUPPORTED', 'records are kept in SQLite only, so far', {
        hint: 'set store: sqlite',
      })
    const { places } = active
    prepareFolder(places.state)
    const store = await openStore({
      file: join(places.state, 'busbar.db'),
      sealKey: sealKey(places),
      onTrouble: trouble,
    })
    try {
      const folder = join(places.state, 'journal')
      const keeping: Keeping = { level: 'shape', scrub: (text) => text }
      const summary = (said: string) =>
        resultForRecord(keeping.level, Buffer.from(said, 'latin1'), keeping.scrub)
      const recorder = await Recorder.open({ store, folder, onTrouble: trouble, summary })
      const records = new Records(store, recorder, keeping, trouble, onEnergy)
      await records.adopt(active)
      return records
    } catch (error) {
      await store.close()
      throw error
    }
  }

  /** How much of a call is kept. */
  get level(): RecordLevel {
    return this.#keeping.level
  }

  /** Takes every secret of the configuration out of a text. */
  get scrub(): (text: string) => string {
    return this.#keeping.scrub
  }

  /** Follows another configuration; resolves when the ledger of energy does, too. Never rejects. */
  async adopt(active: Snapshot): Promise<void> {
    this.#keeping.level = active.config.record
    // Calls that are under way, and rows that are not written yet, may hold those of before.
    this.#secrets = [...new Set([...allSecrets(active), ...this.#secrets])].slice(0, MOST_SECRETS)
    this.#keeping.scrub = scrubber(this.#secrets)
    this.recorder.tally.know(active.servers.keys())
    // When a server was first seen is part of what is told of it.
    this.store.servers
      .noteServers([...active.servers.keys()], Date.now())
      .catch((error: unknown) => this.#tell(error))
    await this.energy?.configure(budgetsOf(active.config)).catch((error: unknown) => this.#tell(error))
  }

  async close(): Promise<void> {
    await this.energy?.close()
    await this.recorder.close()
    await this.store.close()
  }

  // --- internal ---

  #tell(error: unknown): void {
    this.trouble(error instanceof Error ? error.message : String(error))
  }
}

/** For what makes no sense without a record. */
export function present(records: Records | undefined): Records {
  if (records) return records
  throw new Fault('NOT_SUPPORTED', 'this hub keeps no record', { hint: 'leave out store: none' })
}

// --- internal ---

/** A hub whose secrets are renewed every minute keeps out those of the last day. */
const MOST_SECRETS = 10_000

/** What is kept of a call, by the configuration that is followed now. */
interface Keeping {
  level: RecordLevel
  scrub: (text: string) => string
}

/** Outside the state folder: who can only write there cannot seal what was changed. */
function sealKey({ config }: Places): string {
  const file = join(config, 'record.key')
  prepareFolder(config)
  const reason = unsafeReason(file)
  if (reason !== undefined)
    throw new Fault('STATE_REFUSED', `${file} ${reason}`, { hint: 'check who wrote it, then move it aside' })
  if (!existsSync(file)) makeKey(file)
  return readFileSync(file, 'utf8').trim()
}

/** In one step, and never over another process's: what was sealed with a key that is gone cannot be checked. */
function makeKey(file: string): void {
  const draft = `${file}.${randomHex(6)}`
  writeFileSync(draft, `${randomHex(32)}\n`, { mode: 0o600, flag: 'wx' })
  try {
    linkSync(draft, file)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  } finally {
    rmSync(draft, { force: true })
  }
}
