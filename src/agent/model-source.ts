// The models of the agent: those that a program gave, else those of the configuration that is followed now.

import { Fault } from '../base/fault.ts'
import { expandValue } from '../config/expand.ts'
import { faultOf, missingHint, notSet } from '../config/missing.ts'
import type { Snapshot } from '../config/snapshot.ts'
import { settingsScope } from '../config/status.ts'
import type { Models } from './model.ts'
import { modelsFrom } from './providers.ts'

export class ModelSource {
  readonly #given: Models | undefined
  #made: { readonly from: string; readonly models: Models } | undefined

  constructor(given: Models | undefined) {
    this.#given = given
  }

  /** Throws a fault that says what to set when there is none. */
  of(active: Snapshot): Models {
    if (this.#given) return this.#given
    const { model, cheap } = active.config.agent
    const expanded = expandValue({ model, cheap }, settingsScope(active))
    if (!expanded.ok) throw lacking(expanded.missing, active)
    const from = JSON.stringify(expanded.value)
    if (this.#made?.from === from) return this.#made.models
    const models = modelsFrom(expanded.value, active.env)
    if (models instanceof Fault) throw models
    this.#made = { from, models }
    return models
  }
}

// --- internal ---

function lacking(missing: readonly string[], { secrets }: Snapshot): Fault {
  const unusable = faultOf(missing, secrets)
  if (unusable) return unusable
  return new Fault('MODEL_REFUSED', `the agent has no model: ${notSet(missing, secrets)}`, {
    hint: missingHint(missing, secrets),
  })
}
