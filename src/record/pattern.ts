// What errors have in common: a message with everything taken out that differs from call to call.

/**
 * The message for grouping: addresses, paths, quoted texts, dates, ids and numbers become placeholders. At most 200
 * characters, in time proportional to the message's length.
 */
export function errorPattern(message: string): string {
  let text = message.slice(0, MOST_READ)
  for (const [what, placeholder] of REPLACEMENTS) text = text.replace(what, placeholder)
  text = text.trim()
  return text.length <= MOST_KEPT ? text : `${text.slice(0, MOST_KEPT - 1)}…`
}

// --- internal ---

const MOST_READ = 2000
const MOST_KEPT = 200

// In this order: what may hold something of a later kind comes first. Wherever a match can begin at any character, its
// length is bounded up to the character that decides, so no text makes the search start over more than that often.
const REPLACEMENTS: readonly (readonly [RegExp, string])[] = [
  [/"[^"\n]{0,500}"|`[^`\n]{0,500}`|“[^”\n]{0,500}”|«[^»\n]{0,500}»/g, '<text>'],
  // An apostrophe inside a word opens nothing.
  [/(?<!\w)'[^'\n]{0,500}'(?!\w)/g, '<text>'],
  [/\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s<>"')\]]+/gi, '<url>'],
  [/(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}/g, '<email>'],
  [/\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b/gi, '<id>'],
  [/\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z| ?[+-]\d\d:?\d\d)?)?(?!\d)/g, '<date>'],
  [/\b\d{1,2}:\d\d:\d\d(?:[.,]\d{1,9})?\b/g, '<date>'],
  [/(?<![\w.~/])(?:~|\.{1,2})?(?:\/[\w.@%+=,~-]{1,255}){1,64}\/?/g, '<path>'],
  [/\b[A-Za-z]:\\[^\s"'<>|]*/g, '<path>'],
  [/\b0x[0-9a-f]+\b/gi, '<hex>'],
  // A digit at least, so that no word is taken for one; without letters it is a number.
  [/\b(?=[0-9]{0,64}[a-f])(?=[a-f]{0,64}[0-9])[0-9a-f]{8,}\b/gi, '<hex>'],
  [/\b(?=[A-Za-z_]{1,64}\d|\d{1,64}[A-Za-z_])(?=\D{0,64}\d\w{0,64}\d)\w{10,}\b/g, '<id>'],
  [/[+-]?\d+(?:[.,]\d+)*/g, '<number>'],
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  [/[\s\u0000-\u001f\u007f]+/g, ' '],
]
