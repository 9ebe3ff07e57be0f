// A model that says what it was told to: for tests and the demonstration, in the very loop that real ones run in.

import { setImmediate as turn } from 'node:timers/promises'
import type { EndReason, Model, ModelRequest, Tokens, ToolUse } from './model.ts'

/** One answer. */
interface ScriptedAnswer {
  readonly thinking?: string | undefined
  readonly text?: string | undefined
  /** Arguments as data, or as text that may be broken. */
  readonly uses?: readonly ScriptedUse[] | undefined
  /** Default: `uses` when there are some, else `stop`. */
  readonly end?: EndReason | undefined
  /** Default: counted by length. */
  readonly tokens?: Tokens | undefined
}

interface ScriptedUse {
  readonly name: string
  readonly arguments?: Readonly<Record<string, unknown>> | string | undefined
  /** Default: `use_1`, `use_2` and so on. */
  readonly id?: string | undefined
}

/** An answer, or a function of what was asked, which may also throw a fault in its place. */
export type ScriptStep =
  | ScriptedAnswer
  | ((request: ModelRequest, asked: number) => ScriptedAnswer | Promise<ScriptedAnswer>)

export interface ScriptedModel extends Model {
  /** Everything it was asked, in order. */
  readonly requests: readonly ModelRequest[]
}

/** Gives the steps one after another. After the last one it says so and asks for nothing more. */
export function scriptedModel(steps: readonly ScriptStep[] | ScriptStep, name = 'scripted'): ScriptedModel {
  const requests: ModelRequest[] = []
  let uses = 0
  const named = (use: ScriptedUse): ToolUse => {
    uses += 1
    const { id = `use_${uses}`, arguments: given = {} } = use
    return { id, name: use.name, arguments: typeof given === 'string' ? given : JSON.stringify(given) }
  }
  return {
    name: `scripted/${name}`,
    requests,
    async *stream(request) {
      request.signal.throwIfAborted()
      const asked = requests.push(request) - 1
      const step = Array.isArray(steps) ? (steps[asked] ?? OVER) : (steps as ScriptStep)
      const answer = typeof step === 'function' ? await step(request, asked) : step
      for (const type of ['thinking', 'text'] as const)
        for (const text of wordsOf(answer[type])) {
          // As from a network: between two pieces others have their turn, and the signal can come.
          await turn()
          request.signal.throwIfAborted()
          yield { type, text }
        }
      const wanted = (answer.uses ?? []).map(named)
      for (const use of wanted) yield { type: 'use', use }
      const reason = answer.end ?? (wanted.length > 0 ? 'uses' : 'stop')
      yield { type: 'end', reason, tokens: answer.tokens ?? countOf(request, answer) }
    },
  }
}

// --- internal ---

const OVER: ScriptedAnswer = { text: '(the script is over)' }

/** Words with the space behind them. */
function wordsOf(text = ''): string[] {
  return text.match(/\S+\s*|\s+/g) ?? []
}

/** The same for the same script, by the rule of thumb of four characters. */
function countOf(
  { system, messages, tools }: ModelRequest,
  { thinking = '', text = '', uses = [] }: ScriptedAnswer,
): Tokens {
  const input = JSON.stringify([system, messages, tools]).length
  const output = thinking.length + text.length + JSON.stringify(uses).length
  return { input: Math.ceil(input / 4), output: Math.ceil(output / 4) }
}
