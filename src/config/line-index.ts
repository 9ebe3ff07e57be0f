// From offsets to lines.

import type { Position } from './document.ts'

/** Line and column (from 1) of an offset; the lines are counted once. */
export function lineIndex(text: string): (offset: number) => Position {
  let starts: number[] | undefined
  return (offset) => {
    starts ??= [0, ...[...text.matchAll(/\n/g)].map((match) => match.index + 1)]
    let low = 0
    let high = starts.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((starts[middle] ?? 0) <= offset) low = middle
      else high = middle - 1
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 }
  }
}
