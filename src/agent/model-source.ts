// The models of the agent: those that a program gave, else those of the configuration that is followed now.

import { Fault } from '../base/fault.ts'
import { expandValue } from '../config/expand.ts'
import type { Snapshot } from '../config/snapshot.ts'
import type { Models } from './model.ts'
import { modelsFrom } from './providers.ts'

export class ModelSource {
  readonly #given: Models | undefined
  #made: { readonly from: string; readonly models: Models } | undefined

  constructor(given: Models | undefined) {
    this.#given = given
  }

  /** Throws a fault that says what to set when there is none. */
  of({ config, env, root, places }: Snapshot): Models {
    if (this.#given) return this.#given
    const { model, cheap } = config.agent
    const expanded = expandValue({ model, cheap }, { env, root, home: places.home })
    if (!expanded.ok)
      throw new Fault('MODEL_REFUSED', `agent.model needs ${expanded.missing.join(', ')}`, {
        hint: `set ${expanded.missing.join(', ')}`,
      })
    const from = JSON.stringify(expanded.value)
    if (this.#made?.from === from) return this.#made.models
    const models = modelsFrom(expanded.value, env)
    if (models instanceof Fault) throw models
    this.#made = { from, models }
    return models
  }
}
