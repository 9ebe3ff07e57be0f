// Ids that sort by the time they were made (UUID version 7), cheap enough for every call.

let lastTime = 0
/** All but the last seven digits; another one for each millisecond. */
let start = ''
/** The last seven digits: from a random place upwards, so that ids of one millisecond differ and keep their order. */
let counter = 0

const FIRST = 0x1000000
const LAST = 0xfffffff

export function uuid7(now: number = Date.now()): string {
  // A clock that goes back does not put a later id before an earlier one.
  if (now > lastTime) begin(now)
  else if (counter === LAST) begin(lastTime + 1)
  else counter += 1
  return start + counter.toString(16)
}

// --- internal ---

const VARIANTS = '89ab'
/** Random digits for one millisecond: 11 and the variant's two bits for the start, 6 for the counter. */
const DIGITS = 18
/** Milliseconds for which random digits are made at a time. */
const POOL = 64

let pool = ''
let used = 0

function begin(time: number): void {
  lastTime = time
  if (used + DIGITS > pool.length) {
    pool = process
      .getBuiltinModule('node:crypto')
      .randomBytes((POOL * DIGITS) / 2)
      .toString('hex')
    used = 0
  }
  const random = pool.slice(used, used + DIGITS)
  used += DIGITS
  const digits = time.toString(16).padStart(12, '0')
  const variant = VARIANTS[random.charCodeAt(0) & 3]
  start =
    `${digits.slice(0, 8)}-${digits.slice(8)}-7${random.slice(1, 4)}` +
    `-${variant}${random.slice(4, 7)}-${random.slice(7, 12)}`
  counter = FIRST + Number.parseInt(random.slice(12), 16)
}
