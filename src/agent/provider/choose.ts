// Which models the agent uses: what the configuration says, else what the environment offers. Nothing is asked over the
// network.

import { Fault } from '../../base/fault.ts'
import type { Environment } from '../../base/places.ts'

/** A model as configured; whatever is left out is found. */
interface ModelSettings {
  readonly provider?: 'anthropic' | 'openai' | 'scripted' | undefined
  readonly name?: string | undefined
  readonly baseUrl?: string | undefined
  readonly key?: string | undefined
}

export interface AgentModels {
  readonly model?: ModelSettings | undefined
  /** What it leaves out is as in `model`. */
  readonly cheap?: ModelSettings | undefined
}

/** A model of which everything is known. */
export interface ModelChoice {
  readonly provider: Api
  readonly name: string
  readonly baseUrl: string
  /** Local servers want none. */
  readonly key: string | undefined
  /** Where its key is expected, for messages. */
  readonly keyVariable: string
}

type Api = 'anthropic' | 'openai'

export interface Choices {
  readonly normal: ModelChoice
  readonly cheap: ModelChoice
}

/** Both models, or the fault that says what to set. Scripted ones are no affair of this. */
export function chooseModels(settings: AgentModels, env: Environment): Choices | Fault {
  const model = withDefaults(settings.model ?? {}, env)
  if (model instanceof Fault) return model
  const normal = named(model, settings.model?.name ?? set(env, 'BUSBAR_MODEL'), 'normal')
  if (normal instanceof Fault) return normal
  const own = settings.cheap ?? {}
  // Another provider or address is another service: its key is not that of the first one.
  const isElsewhere = differs(own.provider, model.provider) || differs(own.baseUrl, model.baseUrl)
  const base = isElsewhere
    ? withDefaults({ ...own, provider: own.provider ?? model.provider }, env)
    : { ...model, key: own.key ?? model.key }
  if (base instanceof Fault) return base
  const wanted = own.name ?? set(env, 'BUSBAR_CHEAP_MODEL')
  const cheap = named(base, wanted ?? (isElsewhere || isKnown(base) ? undefined : normal.name), 'cheap')
  return cheap instanceof Fault ? cheap : { normal, cheap }
}

// --- internal ---

const APIS = {
  anthropic: {
    baseUrl: 'https://api.anthropic.com/v1',
    key: 'ANTHROPIC_API_KEY',
    address: 'ANTHROPIC_BASE_URL',
    // Neither thinks unless it is asked to, so a history without its thoughts is always one they take.
    normal: 'claude-sonnet-4-6',
    cheap: 'claude-haiku-4-5',
  },
  openai: {
    baseUrl: 'https://api.openai.com/v1',
    key: 'OPENAI_API_KEY',
    address: 'OPENAI_BASE_URL',
    normal: 'gpt-5',
    cheap: 'gpt-5-mini',
  },
} as const

const HINT =
  'set ANTHROPIC_API_KEY, or OPENAI_API_KEY; for a model on this machine set OPENAI_BASE_URL ' +
  '(http://127.0.0.1:11434/v1 for Ollama) and BUSBAR_MODEL'

type Nameless = Omit<ModelChoice, 'name'>

function withDefaults(settings: ModelSettings, env: Environment): Nameless | Fault {
  const provider = apiOf(settings, env)
  if (provider === undefined)
    return new Fault('MODEL_REFUSED', 'there is no model for the agent', { hint: HINT })
  const api = APIS[provider]
  const baseUrl = addressOf(settings.baseUrl ?? set(env, api.address) ?? api.baseUrl, provider)
  if (baseUrl === undefined)
    return new Fault('MODEL_REFUSED', 'the address of the model is none that can be reached', {
      hint: 'write it like https://example.com/v1',
    })
  // A key from the environment goes only where the environment says: a configured address gets the one configured with it.
  const key = settings.key ?? (settings.baseUrl === undefined ? set(env, api.key) : undefined)
  const choice = { provider, baseUrl, key, keyVariable: api.key }
  if (key === undefined && isKnown(choice))
    return new Fault('MODEL_REFUSED', `there is no key for ${provider}`, { hint: `set ${api.key}` })
  return choice
}

function apiOf({ provider, baseUrl, key }: ModelSettings, env: Environment): Api | undefined {
  if (provider === 'anthropic' || provider === 'openai') return provider
  if (baseUrl !== undefined) return 'openai'
  if (key !== undefined) return key.startsWith('sk-ant-') ? 'anthropic' : 'openai'
  if (set(env, 'ANTHROPIC_API_KEY') !== undefined) return 'anthropic'
  return (set(env, 'OPENAI_API_KEY') ?? set(env, 'OPENAI_BASE_URL')) === undefined ? undefined : 'openai'
}

/** Anthropic's address is usually given without its version, that of the others with it. */
function addressOf(text: string, provider: Api): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') return undefined
  const plain = url.href.replace(/\/+$/, '')
  return provider === 'anthropic' && url.pathname === '/' ? `${plain}/v1` : plain
}

function named(base: Nameless, name: string | undefined, size: 'normal' | 'cheap'): ModelChoice | Fault {
  const found = name ?? (isKnown(base) ? APIS[base.provider][size] : undefined)
  if (found !== undefined) return { ...base, name: found }
  return new Fault('MODEL_REFUSED', `nobody says which model to use at ${new URL(base.baseUrl).host}`, {
    hint: 'set `agent.model.name` in the configuration, or BUSBAR_MODEL',
  })
}

/** Whether it is the provider's own endpoint, of which we know models and that it wants a key. */
function isKnown({ provider, baseUrl }: Pick<ModelChoice, 'provider' | 'baseUrl'>): boolean {
  return new URL(baseUrl).host === new URL(APIS[provider].baseUrl).host
}

function differs(own: string | undefined, other: string): boolean {
  return own !== undefined && own.replace(/\/+$/, '') !== other
}

/** Empty is not set. */
function set(env: Environment, name: string): string | undefined {
  return env[name] === '' ? undefined : env[name]
}
