// The models of the built-in agent, from the configuration and the environment.

import { Fault } from '../base/fault.ts'
import type { Environment } from '../base/places.ts'
import type { Models } from './model.ts'
import { type AgentModels, chooseModels } from './provider/choose.ts'
import { providerModel } from './provider/provider-model.ts'
import { scriptedFile } from './scripted-file.ts'

/** Both models, or the fault that says what to set. Neither the network nor the provider packages are touched yet. */
export function modelsFrom({ model = {}, cheap = {} }: AgentModels, env: Environment): Models | Fault {
  const normalScript = model.provider === 'scripted'
  // What it leaves out is as in `model`.
  const cheapScript = (cheap.provider ?? model.provider) === 'scripted'
  const scripted = normalScript ? scriptedFile(model.name, 'model') : undefined
  if (scripted instanceof Fault) return scripted
  const isSame = normalScript && cheapScript && (cheap.name ?? model.name) === model.name
  // One script for both goes on where the other model left it.
  const small = isSame ? scripted : cheapScript ? scriptedFile(cheap.name, 'cheap') : undefined
  if (small instanceof Fault) return small
  if (scripted && small) return { normal: scripted, cheap: small }
  const chosen = chooseModels(
    // A script has neither a service nor a key that the other could have from it.
    normalScript
      ? { model: cheap, cheap: { name: cheap.name } }
      : { model, ...(cheapScript ? {} : { cheap }) },
    env,
  )
  if (chosen instanceof Fault) return chosen
  return {
    normal: scripted ?? providerModel(chosen.normal, { env }),
    cheap: small ?? providerModel(chosen.cheap, { env }),
  }
}
