// Patterns over names: `*` any run of characters, `?` one. Not a regular expression, so no pattern can be slow.

/** Whether a whole name fits a pattern; steps are bounded by the product of the two lengths. */
export function matchesGlob(pattern: string, name: string): boolean {
  let patternIndex = 0
  let nameIndex = 0
  let star = -1
  let resumeAt = 0
  while (nameIndex < name.length) {
    const wanted = pattern[patternIndex]
    if (wanted === '*') {
      star = patternIndex++
      resumeAt = nameIndex
    } else if (wanted === '?' || wanted === name[nameIndex]) {
      patternIndex++
      nameIndex++
    } else if (star >= 0) {
      // The last star takes one character more.
      patternIndex = star + 1
      nameIndex = ++resumeAt
    } else return false
  }
  while (pattern[patternIndex] === '*') patternIndex++
  return patternIndex === pattern.length
}

/** Whether a text is a pattern rather than a plain name. */
export function isGlob(text: string): boolean {
  return /[*?]/.test(text)
}
