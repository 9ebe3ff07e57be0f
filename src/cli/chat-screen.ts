// A conversation as it is written: what the agent says goes to the answer, everything else is talk. Whatever models and
// tools write is made harmless first.

import type { WholeConversation } from '../agent/conversation.ts'
import type { Turn } from '../agent/entries.ts'
import type { ConversationEvent } from '../agent/events.ts'
import type { AgentEnergy } from '../policy/energy-report.ts'
import type { ChatTool } from './chat-line.ts'
import { cut } from './display-width.ts'
import { gaugeLine } from './gauge.ts'
import { type Output, safe, safeJson } from './output.ts'
import { oneLine, shortId } from './show-approval.ts'

export class ChatScreen {
  readonly #out: Output
  /** Whether somebody looks at it who wants to see more than the answers. */
  readonly #terminal: boolean
  #mode: 'none' | 'text' | 'thinking' = 'none'
  /** Whether the last line is not ended yet. */
  #open = false

  constructor(out: Output, terminal: boolean) {
    this.#out = out
    this.#terminal = terminal
  }

  /** What happens, as it happens. */
  show(event: ConversationEvent): void {
    if (this.#out.json) {
      this.#out.raw(`${safeJson(JSON.stringify(event))}\n`)
      return
    }
    switch (event.kind) {
      case 'text':
        this.#stream('text', event.text)
        break
      case 'thinking':
        if (this.#terminal) this.#stream('thinking', event.text)
        break
      case 'said':
        this.talk()
        if (event.from !== undefined) this.note(`from conversation ${shortId(event.from)}:`)
        this.#out.raw(`${safe(event.text)}\n`)
        break
      case 'answer':
        this.talk()
        break
      case 'tool-start':
        this.note(`→ ${oneLine(event.use.name)} ${brief(event.use.arguments, 100)}`)
        break
      case 'tool-end': {
        const { name, isError, text } = event.outcome
        const mark = isError ? this.#out.style('red', '✗') : this.#out.style('green', '✓')
        this.note(`${mark} ${oneLine(name)}${isError ? `: ${brief(text, 200)}` : ''}`)
        break
      }
      case 'energy':
        this.note(`waiting for energy: ${Math.floor(event.level)} left${untilText(event.until)}`)
        break
      case 'snoozed':
        this.note(`set aside${untilText(event.until)}`)
        break
      case 'compacted':
        this.note('the beginning was summarised, because the conversation became too long')
        break
      default:
        break
    }
  }

  /** How a turn ended, and what is left of energy. */
  ended(turn: Turn, energy: AgentEnergy | undefined): void {
    if (this.#out.json) return
    this.talk()
    const why = REASONS[turn.reason]
    if (turn.reason === 'failed') {
      const hint = turn.hint === undefined ? '' : ` (${oneLine(turn.hint)})`
      this.note(this.#out.style('red', `failed: ${oneLine(turn.error ?? 'nobody knows why')}${hint}`))
    } else if (why !== undefined) this.note(this.#out.style('yellow', why))
    if (!this.#terminal) return
    const { input, output } = turn.tokens
    const parts = [
      ...(energy === undefined ? [] : [gaugeLine(energy)]),
      `${Number(turn.energy.toFixed(1))} spent`,
      `${input + output} tokens`,
      ...turn.models.map(oneLine),
    ]
    this.note(this.#out.style('dim', parts.join(' · ')))
  }

  /** To whoever has said nothing yet. */
  welcome(): void {
    if (this.#terminal) this.note(this.#out.style('dim', '/help for help'))
  }

  began(id: string, agent: string): void {
    if (this.#out.json) return
    this.note(this.#out.style('dim', `conversation ${shortId(id)} with ${oneLine(agent)}`))
  }

  /** What was said before, in short, for whoever comes back. */
  recall({ id, agent, messages }: WholeConversation): void {
    this.began(id, agent)
    this.welcome()
    if (!this.#terminal || this.#out.json) return
    for (const entry of messages.slice(-RECALLED)) {
      if (entry.role === 'user') this.note(`› ${safe(entry.text)}`)
      else if ((entry.role === 'assistant' || entry.role === 'said') && entry.text !== '') {
        if ('from' in entry && entry.from !== undefined)
          this.note(`from conversation ${shortId(entry.from)}:`)
        this.#out.raw(`${safe(entry.text)}\n`)
      }
    }
  }

  tools(tools: readonly ChatTool[]): void {
    if (tools.length === 0) this.note('There are no tools.')
    for (const { name, description = '' } of tools)
      this.note(`${this.#out.style('bold', oneLine(name))}  ${brief(description, 100)}`)
  }

  energy(energy: AgentEnergy | undefined): void {
    this.note(energy === undefined ? 'Nothing is known of its energy.' : gaugeLine(energy))
  }

  /** Lines that are safe already. */
  lines(lines: readonly string[]): void {
    this.talk()
    for (const line of lines) this.#out.note(line)
  }

  note(line: string): void {
    this.talk()
    this.#out.note(line)
  }

  /** Ends what is being said, so that something else can be written. */
  talk(): void {
    if (this.#open) this.#out.raw('\n')
    this.#open = false
    this.#mode = 'none'
  }

  // --- internal ---

  #stream(mode: 'text' | 'thinking', text: string): void {
    if (this.#mode !== mode) this.talk()
    this.#mode = mode
    const clean = safe(text)
    this.#out.raw(mode === 'thinking' ? this.#out.style('dim', clean) : clean)
    this.#open = !clean.endsWith('\n')
  }
}

// --- internal ---

/** Entries that are shown to whoever comes back. */
const RECALLED = 10

const REASONS: Readonly<Partial<Record<Turn['reason'], string>>> = {
  length: 'the answer was cut off, because it became too long',
  refused: 'the model would not go on',
  rounds: 'stopped after many rounds; say something to go on',
  stopped: 'stopped',
  ended: 'the agent ended the conversation',
}

function brief(text: string, columns: number): string {
  return cut(oneLine(text.trim()), columns)
}

function untilText(until: number | undefined): string {
  return until === undefined ? '' : `, until ${new Date(until).toLocaleTimeString()}`
}
