// What is kept of a conversation, message by message, and what a model is shown of it. Everything a turn does is an entry
// before it has consequences, so that whoever finds a conversation knows what was begun and what was ended.

import { isRecord } from '../base/record.ts'
import type { Message } from '../store/work.ts'
import { shortened, summaryMessage } from './compaction.ts'
import type { TurnReason } from './loop.ts'
import type { ModelMessage, Tokens, ToolOutcome, ToolUse } from './model.ts'
import { moreUrgent, type Urgency } from './regulator.ts'

/** What each kind of entry holds. */
export interface Contents {
  /** A person said it. */
  readonly user: { readonly text: string; readonly urgency?: Urgency | undefined }
  /** The conversation was taken up again by itself. */
  readonly wake: { readonly text: string }
  readonly assistant: {
    readonly text: string
    readonly uses: readonly ToolUse[]
    readonly model: string
    readonly reason: string
    readonly tokens: Tokens
    readonly energy?: number | undefined
    /** The last entry of a person that the model had read when it said this. */
    readonly seen: number
  }
  readonly outcome: ToolOutcome
  /** A use waits for a person. As long as this is the last mark of it, nothing was sent. */
  readonly waiting: { readonly use: string; readonly approval: string }
  /** It waits no more: from here on it may have been sent. */
  readonly resumed: { readonly use: string }
  /** Told to the person while the turn went on; `from`: by the agent in another conversation. */
  readonly said: { readonly text: string; readonly from?: string | undefined }
  /** From `from` on, entries are shown as they are; the first of all, too; what lies between is the summary. */
  readonly compaction: {
    readonly summary: string
    readonly from: number
    readonly model: string
    readonly tokens: Tokens
    readonly energy?: number | undefined
  }
  /** A turn is over. */
  readonly turn: Turn
}

export interface Turn {
  readonly reason: TurnReason
  readonly rounds: number
  readonly tokens: Tokens
  /** What models and tools took. */
  readonly energy: number
  readonly models: readonly string[]
  readonly compactions: number
  readonly startedAt: number
  readonly endedAt: number
  /** The last entry of a person that it took in; more may have been said meanwhile. */
  readonly seen: number
  readonly code?: string | undefined
  readonly error?: string | undefined
  readonly hint?: string | undefined
}

export type Role = keyof Contents
export type Entry = {
  readonly [R in Role]: { readonly seq: number; readonly at: number; readonly role: R } & Contents[R]
}[Role]

/** What is told to the model of a call that nobody knows the outcome of. */
export const UNKNOWN_OUTCOME =
  'unknown: the call may have happened. The process that made it ended before the outcome was known, and it was not ' +
  'repeated. Find out what is so before you call it again.'

/** Entries as the store gives them; what is no entry of ours is left out. */
export function entriesOf(messages: readonly Message[]): Entry[] {
  return messages.flatMap(({ seq, role, content, createdAt }) => {
    const read: unknown = ROLES.has(role) ? JSON.parse(content) : undefined
    // Written by `contentOf` and by nobody else.
    return isRecord(read) ? [{ ...read, seq, role, at: createdAt } as unknown as Entry] : []
  })
}

/** What a model is shown of it, each with the number of the entry that it stands at. */
export function shownOf(
  entries: readonly Entry[],
): { readonly seq: number; readonly message: ModelMessage }[] {
  const outcomes = outcomesOf(entries)
  const compaction = entries.findLast((entry) => entry.role === 'compaction')
  const first = entries.find(({ role }) => role === 'user')
  const shown: { seq: number; message: ModelMessage }[] = []
  for (const { entry, place: seq } of inOrder(entries)) {
    if (compaction && seq < compaction.from && entry !== first) continue
    for (const message of messagesOf(entry, outcomes.get(entry.seq)))
      shown.push({ seq, message: compaction && seq < compaction.seq ? shortened(message) : message })
    if (compaction && compaction.summary !== '' && entry === first)
      shown.push({ seq, message: summaryMessage(compaction.summary) })
  }
  return shown
}

/** Uses of the last answer that have no outcome, whether each surely was not sent, and the outcomes that there are. */
export function openUses(entries: readonly Entry[]): {
  readonly uses: readonly { readonly use: ToolUse; readonly unsent: boolean }[]
  readonly outcomes: readonly ToolOutcome[]
} {
  const at = entries.findLastIndex(({ role }) => role === 'assistant')
  const last = entries[at]
  if (last?.role !== 'assistant') return { uses: [], outcomes: [] }
  // Only what stands behind it: an id may have been used before.
  const behind = entries.slice(at + 1)
  const outcomes = behind.flatMap((entry) => (entry.role === 'outcome' ? [plain(entry)] : []))
  const marks = behind.filter((entry) => entry.role === 'waiting' || entry.role === 'resumed')
  const ended = new Set(outcomes.map(({ id }) => id))
  return {
    uses: last.uses
      .filter(({ id }) => !ended.has(id))
      .map((use) => ({ use, unsent: marks.findLast((mark) => mark.use === use.id)?.role === 'waiting' })),
    outcomes,
  }
}

/** Whether there is something to do: the model has not answered, or not all of what it wants was done. */
export function stateOf(entries: readonly Entry[]): 'nothing' | 'due' | 'said' {
  const turn = entries.findLast((entry) => entry.role === 'turn')
  const seen = entries.reduce((most, entry) => ('seen' in entry ? Math.max(most, entry.seen) : most), 0)
  if (entries.some((entry) => isSpoken(entry) && entry.seq > seen)) return 'due'
  const last = entries.findLast(({ role, seq }) => DRIVES.has(role) && seq > (turn?.seq ?? 0))
  if (last === undefined) return 'nothing'
  // All was said, and only the end of the turn was not written.
  return last.role === 'assistant' && last.uses.length === 0 ? 'said' : 'due'
}

/** What stands of a turn that is not over. */
export interface Earlier {
  readonly rounds: number
  readonly tokens: Tokens
  readonly models: readonly string[]
  readonly compactions: number
  /** Epoch milliseconds: before this nothing was done of it, and its first entry. */
  readonly since: number
  readonly startedAt: number
}

export function earlierOf(entries: readonly Entry[]): Earlier {
  const at = entries.findLastIndex(({ role }) => role === 'turn')
  const last = entries[at]
  const own = entries.slice(at + 1)
  const asked = own.filter((entry) => entry.role === 'assistant' || entry.role === 'compaction')
  const sum = (side: keyof Tokens) => asked.reduce((total, { tokens }) => total + tokens[side], 0)
  const startedAt = own.find(({ role }) => role !== 'said')?.at ?? Number.POSITIVE_INFINITY
  return {
    rounds: asked.filter(({ role }) => role === 'assistant').length,
    tokens: { input: sum('input'), output: sum('output') },
    models: [...new Set(asked.map(({ model }) => model))].filter((model) => model !== ''),
    compactions: asked.filter(({ role }) => role === 'compaction').length,
    since: last?.role === 'turn' ? last.endedAt : 0,
    startedAt,
  }
}

/** How the turn ends of which all was said: as its last answer did. */
export function reasonOf(entries: readonly Entry[]): TurnReason {
  const reason = entries.findLast((entry) => entry.role === 'assistant')?.reason
  switch (reason) {
    case 'length':
    case 'refused':
    case 'stopped':
    case 'failed':
      return reason
    default:
      return 'done'
  }
}

/** How urgent the turn is that is to be made: as the most urgent of what nobody has answered. */
export function urgencyOf(entries: readonly Entry[]): Urgency {
  const seen = entries.findLast((entry) => entry.role === 'turn')?.seen ?? 0
  const urgencies = entries.flatMap((entry): Urgency[] => {
    if (entry.seq <= seen) return []
    if (entry.role === 'wake') return ['background']
    return entry.role === 'user' ? [entry.urgency ?? 'asked'] : []
  })
  return urgencies.length === 0 ? 'asked' : urgencies.reduce(moreUrgent)
}

// --- internal ---

const ROLES: ReadonlySet<string> = new Set<Role>([
  'user',
  'wake',
  'assistant',
  'outcome',
  'waiting',
  'resumed',
  'said',
  'compaction',
  'turn',
])
const DRIVES: ReadonlySet<Role> = new Set<Role>(['user', 'wake', 'assistant', 'outcome'])

function isSpoken({ role }: Entry): boolean {
  return role === 'user' || role === 'wake'
}

/** What came while the model was answering stands behind that answer: it had not read it. */
function inOrder(entries: readonly Entry[]): { readonly entry: Entry; readonly place: number }[] {
  const answers = entries.filter((entry) => entry.role === 'assistant')
  const placed = entries.map((entry) => {
    if (!isSpoken(entry)) return { entry, place: entry.seq, late: 0 }
    const unaware = answers.findLast(({ seq, seen }) => seq > entry.seq && seen < entry.seq)
    return unaware ? { entry, place: unaware.seq, late: 1 } : { entry, place: entry.seq, late: 0 }
  })
  return placed.sort((a, b) => a.place - b.place || a.late - b.late || a.entry.seq - b.entry.seq)
}

/** Quoted, it stays what was told, whatever it says. */
function noteOf(text: string, from: string): string {
  return `[Not said by the person. From your conversation ${from} they were told here: ${JSON.stringify(text)}]`
}

function plain({ id, name, text, isError }: ToolOutcome): ToolOutcome {
  return { id, name, text, isError }
}

/** The outcomes of each answer's uses, by its number. Those of another may have the same ids. */
function outcomesOf(entries: readonly Entry[]): ReadonlyMap<number, ReadonlyMap<string, ToolOutcome>> {
  const all = new Map<number, Map<string, ToolOutcome>>()
  let own = new Map<string, ToolOutcome>()
  for (const entry of entries)
    if (entry.role === 'assistant') {
      own = new Map()
      all.set(entry.seq, own)
    } else if (entry.role === 'outcome') own.set(entry.id, plain(entry))
  return all
}

function messagesOf(
  entry: Entry,
  outcomes: ReadonlyMap<string, ToolOutcome> | undefined,
): readonly ModelMessage[] {
  switch (entry.role) {
    case 'user':
    case 'wake':
      return [{ role: 'user', text: entry.text }]
    case 'said':
      // No answer of the model's here: such a one could stand first or last, which some models refuse, and would lend its
      // words to whatever spoke there.
      return entry.from === undefined ? [] : [{ role: 'user', text: noteOf(entry.text, entry.from) }]
    case 'assistant': {
      const { text, uses } = entry
      if (uses.length === 0) return text === '' ? [] : [{ role: 'assistant', text, uses }]
      const all = uses.map(
        ({ id, name }) => outcomes?.get(id) ?? { id, name, text: UNKNOWN_OUTCOME, isError: true },
      )
      // Right after it, whatever else was said meanwhile: models insist on that.
      return [
        { role: 'assistant', text, uses },
        { role: 'tools', outcomes: all },
      ]
    }
    default:
      return []
  }
}
