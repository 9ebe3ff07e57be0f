// The models of the built-in agent, from the configuration and the environment.

import { Fault } from '../base/fault.ts'
import type { Environment } from '../base/places.ts'
import type { Models } from './model.ts'
import { type AgentModels, chooseModels } from './provider/choose.ts'
import { providerModel } from './provider/provider-model.ts'
import { scriptedFile } from './scripted-file.ts'

/** Both models, or the fault that says what to set. Neither the network nor the provider packages are touched yet. */
export function modelsFrom(settings: AgentModels, env: Environment): Models | Fault {
  if (settings.model?.provider === 'scripted') {
    const model = scriptedFile(settings.model.name)
    return model instanceof Fault ? model : { normal: model, cheap: model }
  }
  const chosen = chooseModels(settings, env)
  if (chosen instanceof Fault) return chosen
  return { normal: providerModel(chosen.normal, { env }), cheap: providerModel(chosen.cheap, { env }) }
}
