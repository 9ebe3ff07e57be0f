// A model behind one of the two APIs: tries again while nothing was said, counts tokens where the endpoint does not, and
// never gives half an answer for a whole one.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Environment } from '../../base/places.ts'
import { learnSecret } from '../../base/redact.ts'
import { pauseAfter } from '../../connect/backoff.ts'
import { longestAnswer, MOST_USES } from '../bounds.ts'
import type { EndReason, Model, ModelEvent, ModelRequest, ToolUse } from '../model.ts'
import type { ModelChoice } from './choose.ts'
import type { LanguageModel } from './language-model.ts'
import { modelFetch } from './model-fetch.ts'
import { callOptions } from './prompt.ts'
import { troubleOf, unavailable } from './trouble.ts'

export interface ProviderTerms {
  readonly env: Environment
  /** Milliseconds without a byte. */
  readonly idle?: number | undefined
  /** Waits before the next try; rejects when the signal aborts. */
  readonly pause?: ((milliseconds: number, signal: AbortSignal) => Promise<unknown>) | undefined
}

export function providerModel(choice: ModelChoice, terms: ProviderTerms): Model {
  learnSecret(choice.key, `model:${choice.baseUrl}`)
  const fetch = modelFetch({ env: terms.env, idle: terms.idle ?? IDLE })
  let loading: Promise<LanguageModel> | undefined
  // The packages are loaded with the first question: most commands ask none.
  const load = () =>
    (loading ??= import('./language-model.ts').then(({ languageModel }) => languageModel(choice, fetch)))
  return {
    name: `${choice.provider}/${choice.name}`,
    stream: (request) => persist(load, choice, request, terms.pause ?? pause),
  }
}

// --- internal ---

const IDLE = 300_000
const TRIES = 4
/** Whoever is asked to wait for longer is told so instead. */
const LONGEST_WAIT = 30_000

function pause(milliseconds: number, signal: AbortSignal): Promise<unknown> {
  return sleep(milliseconds, undefined, { signal })
}

async function* persist(
  load: () => Promise<LanguageModel>,
  choice: ModelChoice,
  request: ModelRequest,
  wait: NonNullable<ProviderTerms['pause']>,
): AsyncGenerator<ModelEvent> {
  for (let failures = 1; ; failures++) {
    let begun = false
    try {
      request.signal.throwIfAborted()
      for await (const event of once(await load(), choice, request)) {
        begun = true
        yield event
      }
      return
    } catch (error) {
      request.signal.throwIfAborted()
      const trouble = troubleOf(error, choice)
      if (!trouble.again) throw trouble.fault
      if (begun) throw unavailable(`${choice.provider}/${choice.name} broke off in the middle of an answer`)
      const asked = trouble.wait ?? 0
      if (failures >= TRIES || asked > LONGEST_WAIT) throw trouble.fault
      // Beside what is asked for, so that many who were sent away together do not come back together.
      await wait(asked + pauseAfter({ count: failures, hopeless: false }, Math.random()), request.signal)
    }
  }
}

/** One request. Tools are used only when the answer is whole: the end of one that broke off could be missing. */
async function* once(
  model: LanguageModel,
  choice: ModelChoice,
  request: ModelRequest,
): AsyncGenerator<ModelEvent> {
  const stop = new AbortController()
  const options = callOptions(request, choice, AbortSignal.any([request.signal, stop.signal]))
  const uses: ToolUse[] = []
  let length = 0
  /** Arguments as they come, which are kept until they are whole. */
  let written = 0
  const tokensRead = () => tokensIn(JSON.stringify([options.prompt, options.tools]).length)
  try {
    const { stream } = await model.doStream(options)
    for await (const part of stream) {
      if (part.type === 'tool-input-delta') written += part.delta.length
      if (Math.max(length, written) > longestAnswer(request.maxTokens) || uses.length > MOST_USES) {
        const tokens = { input: tokensRead(), output: tokensIn(Math.max(length, written)) }
        yield { type: 'end', reason: 'length', tokens }
        return
      }
      if (part.type === 'text-delta' || part.type === 'reasoning-delta') {
        if (part.delta === '') continue
        length += part.delta.length
        yield { type: part.type === 'text-delta' ? 'text' : 'thinking', text: part.delta }
      } else if (part.type === 'tool-call') {
        length += part.toolName.length + part.input.length
        uses.push({ id: part.toolCallId, name: part.toolName, arguments: part.input })
      } else if (part.type === 'error') throw part.error
      else if (part.type === 'finish') {
        const reason = reasonOf(part.finishReason.unified, uses)
        if (reason === 'uses') for (const use of uses) yield { type: 'use', use }
        const { inputTokens, outputTokens } = part.usage
        const tokens = {
          input: inputTokens.total || tokensRead(),
          output: outputTokens.total || tokensIn(length),
        }
        yield { type: 'end', reason, tokens }
        return
      }
    }
  } finally {
    // Also when nobody listens any more: the endpoint need not go on.
    stop.abort()
  }
  throw new Error('the stream ended before the answer did')
}

type Finish = 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'other'

/** What was cut off or refused calls nothing, whatever it had asked for. */
function reasonOf(finish: Finish, uses: readonly ToolUse[]): EndReason {
  if (finish === 'error') throw new Error('the answer ended with an error')
  if (finish === 'length') return 'length'
  if (finish === 'content-filter') return 'refused'
  return uses.length > 0 ? 'uses' : 'stop'
}

/** By the rule of thumb of four characters. */
function tokensIn(characters: number): number {
  return Math.max(1, Math.ceil(characters / 4))
}
