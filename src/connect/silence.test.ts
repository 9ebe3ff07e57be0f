import { expect, test } from 'vitest'
import { Silence } from './silence.ts'

/** Requests count up by 1 from 1, and are made at ten times their number. */
const ROWS: [
  what: string,
  given: readonly [id: number, heard: number][],
  oldest: number,
  heard: number,
  since: number | undefined,
][] = [
  ['nobody has waited in vain', [], 5, 0, undefined],
  ['one was given up, and a later one waits', [[1, 0]], 2, 0, 10],
  [
    'several were given up: the first counts',
    [
      [2, 0],
      [1, 0],
      [3, 0],
    ],
    4,
    0,
    10,
  ],
  ['one from before still is under way: it may be busy with that', [[2, 0]], 1, 0, undefined],
  ['it has spoken since', [[1, 0]], 2, 15, undefined],
  ['it spoke while that was waited for: from then on', [[1, 15]], 2, 15, 15],
  [
    'it has spoken, and then let another one wait in vain',
    [
      [1, 0],
      [3, 20],
    ],
    4,
    20,
    30,
  ],
]
for (const [what, given, oldest, heard, since] of ROWS)
  test(`silence: ${what}`, () => {
    const silence = new Silence()
    for (const [id, at] of given) silence.add(id, id * 10, at)
    expect(silence.since(oldest, heard)).toBe(since)
  })
