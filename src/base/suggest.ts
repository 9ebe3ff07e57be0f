// "Did you mean …": the nearest known word to a mistyped one.

/** The candidate nearest to `word`, or undefined when none is near enough to be what the person meant. */
export function nearest(word: string, candidates: Iterable<string>, slips?: number): string | undefined {
  const wanted = word.toLowerCase()
  // One slip for every three letters: "githb" finds github, "x" finds nothing.
  const allowed = slips ?? (wanted.length < 2 ? 0 : Math.min(3, Math.max(1, Math.floor(wanted.length / 3))))
  let best: string | undefined
  let bestDistance = allowed + 1
  for (const candidate of candidates) {
    const distance = editDistance(wanted, candidate.toLowerCase(), bestDistance)
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

// --- internal ---

/** Optimal string alignment distance (a swap of neighbours is one slip), given up once it reaches `limit`. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit
  let beforePrevious: number[] = []
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    let smallest = row
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1] ? 0 : 1
      let cost = Math.min(
        (previous[column] ?? limit) + 1,
        (current[column - 1] ?? limit) + 1,
        (previous[column - 1] ?? limit) + same,
      )
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      if (swapped) cost = Math.min(cost, (beforePrevious[column - 2] ?? limit) + 1)
      current.push(cost)
      smallest = Math.min(smallest, cost)
    }
    if (smallest >= limit) return limit
    beforePrevious = previous
    previous = current
  }
  return previous[b.length] ?? limit
}
