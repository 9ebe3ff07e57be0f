// Ids that sort by the time they were made (UUID version 7), cheap enough for every call.

/** Random parts made at a time. */
const POOL = 128
/** Hex digits of one: 8 bytes. */
const DIGITS = 16

let pool = ''
let used = 0
let lastTime = 0
let counter = 0
/** The first two groups, which only change with the clock. */
let start = ''

export function uuid7(now: number = Date.now()): string {
  // Within one millisecond a counter keeps the order; a clock that goes back does not.
  if (now > lastTime) begin(now)
  else if (++counter > 0xfff) begin(lastTime + 1)
  if (used + DIGITS > pool.length) {
    pool = process
      .getBuiltinModule('node:crypto')
      .randomBytes((POOL * DIGITS) / 2)
      .toString('hex')
    used = 0
  }
  const random = pool.slice(used, used + DIGITS)
  used += DIGITS
  const middle = counter < 0x10 ? `00${counter.toString(16)}` : counter.toString(16).padStart(3, '0')
  // The variant takes two bits of the first digit.
  const variant = VARIANTS[random.charCodeAt(0) & 3]
  return `${start}-7${middle}-${variant}${random.slice(1, 4)}-${random.slice(4)}`
}

// --- internal ---

const VARIANTS = '89ab'

function begin(time: number): void {
  lastTime = time
  counter = 0
  const text = time.toString(16).padStart(12, '0')
  start = `${text.slice(0, 8)}-${text.slice(8)}`
}
