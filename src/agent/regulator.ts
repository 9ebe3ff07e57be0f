// How much effort an agent may make, by the energy it has: which model, how long answers and results may be, how many
// conversations at once, and whether it has to wait. No clock and no state: what was so before is given.

/** `asked`: a person waits for it; `background`: the agent took it up by itself. */
export type Urgency = 'urgent' | 'asked' | 'background'

export function moreUrgent(one: Urgency, other: Urgency): Urgency {
  return URGENCIES.indexOf(one) < URGENCIES.indexOf(other) ? one : other
}

/** How an agent is. Undefined where its energy is unlimited. */
export interface Level {
  readonly level: number
  readonly capacity: number
  /** What comes back in a minute. */
  readonly recovery: number
}

/** What was decided last, so that an agent near a threshold does not go to and fro. */
export interface Before {
  readonly model: 'normal' | 'cheap'
  readonly pausing: boolean
}

export interface Pace {
  readonly model: 'normal' | 'cheap'
  /** Most that the model may answer. */
  readonly maxTokens: number
  /** Most of a tool's result that the model is given. */
  readonly resultBytes: number
  /** How many conversations may ask a model at once. */
  readonly parallel: number
  /** Milliseconds until it can go on by itself; 0: now, Infinity: never without a person. */
  readonly pause: number
}

export const FRESH: Before = { model: 'normal', pausing: false }

/** Parts of the capacity, as the states of energy have them. */
const LOW = 0.5
const TIRED = 0.2
const CRITICAL = 0.1
/** From where a cheaper model is left again, and from where a pause ends. */
const RECOVERED = 0.55
const RESTED = 0.15

const STEPS = {
  plenty: { maxTokens: 8192, resultBytes: 100 * 1024, parallel: 8 },
  low: { maxTokens: 4096, resultBytes: 24 * 1024, parallel: 4 },
  tired: { maxTokens: 2048, resultBytes: 8 * 1024, parallel: 2 },
  critical: { maxTokens: 1024, resultBytes: 4 * 1024, parallel: 1 },
} as const

export function regulate(energy: Level | undefined, urgency: Urgency, before: Before = FRESH): Pace {
  if (energy === undefined) return { model: 'normal', ...STEPS.plenty, pause: 0 }
  const part = energy.level / energy.capacity
  const cheap = part < LOW || (before.model === 'cheap' && part < RECOVERED)
  const needed = neededPart(urgency, before.pausing)
  const enough = needed === 0 ? energy.level > 0 : part >= needed
  return {
    model: cheap ? 'cheap' : 'normal',
    ...STEPS[stepOf(part)],
    pause: enough ? 0 : untilPart(energy, Math.max(needed, CRITICAL)),
  }
}

// --- internal ---

const URGENCIES: readonly Urgency[] = ['urgent', 'asked', 'background']

/** Milliseconds until a part of the capacity is there; Infinity when it never will be. */
function untilPart({ level, capacity, recovery }: Level, part: number): number {
  const missing = Math.min(part, 1) * capacity - level
  if (missing <= 0) return 0
  return recovery > 0 ? Math.ceil((missing / recovery) * 60_000) : Number.POSITIVE_INFINITY
}

/** What is urgent goes on to the last; what nobody asked for waits until the agent is no longer tired. */
function neededPart(urgency: Urgency, pausing: boolean): number {
  switch (urgency) {
    case 'urgent':
      return pausing ? CRITICAL : 0
    case 'asked':
      return pausing ? RESTED : CRITICAL
    case 'background':
      return pausing ? TIRED + RESTED - CRITICAL : TIRED
  }
}

function stepOf(part: number): keyof typeof STEPS {
  if (part >= LOW) return 'plenty'
  if (part >= TIRED) return 'low'
  return part >= CRITICAL ? 'tired' : 'critical'
}
