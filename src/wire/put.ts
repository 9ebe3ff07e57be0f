// Members put into an object that is only passed on: what else is in it stays as it came, and is not copied.

import { Fault } from '../base/fault.ts'
import { type Member, scanObject, skipSpace } from './scan.ts'

/** The members of an object that stands alone. Throws where it is none. */
export function membersIn(object: Buffer): readonly Member[] {
  const scan = scanObject(object)
  if (!scan.ok) throw new Fault('MESSAGE_INVALID', 'the answer has a result that cannot be read')
  return scan.members
}

/**
 * The object with `own` in front, in pieces. `before`: those of its members among which there may be some of the same names;
 * they are left out, each time that they are there, because readers differ on which one counts.
 */
export function withOwn(
  object: Buffer,
  own: Readonly<Record<string, unknown>>,
  before: readonly Member[],
): Buffer[] {
  const open = object.indexOf('{') + 1
  const pieces: Buffer[] = [Buffer.from(JSON.stringify(own).slice(0, -1))]
  if (!before.some(({ key }) => Object.hasOwn(own, key))) {
    const isEmpty = object[skipSpace(object, open)] === BRACE_CLOSE
    pieces.push(isEmpty ? NOTHING : COMMA, object.subarray(open))
    return pieces
  }
  for (const run of runsWithout(object, own, before, open)) pieces.push(COMMA, run)
  pieces.push(CLOSE)
  return pieces
}

// --- internal ---

const BRACE_CLOSE = 0x7d
const NOTHING = Buffer.alloc(0)
const COMMA = Buffer.from(',')
const CLOSE = Buffer.from('}')

/** What stays, with the commas in between, in as few pieces as there can be. */
function* runsWithout(
  object: Buffer,
  own: Readonly<Record<string, unknown>>,
  members: readonly Member[],
  open: number,
): Generator<Buffer> {
  let start: number | undefined
  let end = open
  let next = open
  for (const member of members) {
    if (!Object.hasOwn(own, member.key)) {
      start ??= next
      end = member.end
    } else if (start !== undefined) {
      yield object.subarray(start, end)
      start = undefined
    }
    // Behind the comma, or behind the whole.
    next = skipSpace(object, member.end) + 1
  }
  if (start !== undefined) yield object.subarray(start, end)
}
