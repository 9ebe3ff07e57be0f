// How wide a text is on a terminal. Where terminals differ it says the larger number, so that no line is too long.

/** Wide East Asian characters and pictures take two columns. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Extended_Pictographic}|\p{Regional_Indicator}|[\u{20000}-\u{3fffd}]/u
const PLAIN = /^[\x20-\x7e]*$/
const COMBINING = /\p{Mn}|\p{Me}/u

/** Columns a text takes. */
export function width(text: string): number {
  if (PLAIN.test(text)) return text.length
  let columns = 0
  for (const character of text) columns += widthOf(character)
  return columns
}

/** As much of a text as fits, with a mark where something is left out. */
export function cut(text: string, columns: number): string {
  if (width(text) <= columns) return text
  if (columns <= 0) return ''
  let kept = ''
  let used = 0
  for (const character of text) {
    used += widthOf(character)
    if (used > columns - 1) break
    kept += character
  }
  return `${kept}…`
}

/** The text in a column of so many columns: cut, or filled up. */
export function column(text: string, columns: number, side: 'left' | 'right' = 'left'): string {
  const short = cut(text, columns)
  const space = ' '.repeat(Math.max(0, columns - width(short)))
  return side === 'left' ? short + space : space + short
}

// --- internal ---

function widthOf(character: string): number {
  if (COMBINING.test(character)) return 0
  return WIDE.test(character) ? 2 : 1
}
