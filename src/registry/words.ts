// Words of names and descriptions, cut and trimmed so that what means the same is written the same.

/** The words of a text, in their order; a word in camel case is given whole as well as in its parts. */
export function wordsOf(text: string): string[] {
  const words: string[] = []
  for (const [run] of plainLetters(text).matchAll(RUN)) {
    if (UNSPACED.test(run)) {
      for (const pair of pairs(run)) words.push(pair)
    } else {
      const parts = run.match(PART) ?? [run]
      for (const part of parts) words.push(stem(part.toLowerCase()))
      // GitHub is looked for as github.
      if (parts.length > 1) words.push(stem(run.toLowerCase()))
    }
  }
  return words
}

/** Whether a word stands in every description and tells nothing. */
export function isEmptyWord(word: string): boolean {
  return EMPTY_WORDS.has(word)
}

/** An English word without plural, -ing and -ed: not its root, only the same for its forms. */
export function stem(word: string): string {
  if (word.length > MAX_WORD) return word.slice(0, MAX_WORD)
  if (word.length > 4 && word.endsWith('ied')) return `${word.slice(0, -3)}y`
  const single = singular(word)
  const bare = single.replace(/(?<=[aeiouy].*)(?:ing|ed)$/, '')
  if (bare === single || bare.length < 3) return endless(verbOf(single))
  // running, stopped
  const doubled = /([bdfgmnprt])\1$/.test(bare) ? bare.slice(0, -1) : bare
  return endless(verbOf(doubled))
}

// --- internal ---

// Letters with their marks, or digits: what is neither cuts.
const RUN = /[\p{L}\p{M}]+|\p{N}+/gu
const PART = /\p{Lu}+(?!\p{Ll})|\p{Lu}?[^\p{Lu}]+/gu
/** Scripts that put no space between words. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u
const MAX_WORD = 64

const EMPTY_WORDS: ReadonlySet<string> = new Set(
  `a about already also an and another any are as at be been but by can could did different do does for from had has
   have he her here him his how i if in into is it its just last me more most much my need now of on or other our own
   please she should so some somebody someone something such than that the their them then there these they this those
   to too tool us use very want was we were what when where whether which while who whose will with would yes you your`
    .split(/\s+/)
    .map(stem),
)

/** Without accents, and with one form for letters that look alike. */
function plainLetters(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the whole of ASCII
  if (/^[\x00-\x7f]*$/.test(text)) return text
  return text
    .normalize('NFKD')
    .replace(/\p{Mn}+/gu, '')
    .normalize('NFC')
}

/** Neighbouring letters, which find a word in running script without knowing the language. */
function pairs(run: string): string[] {
  const letters = [...run]
  if (letters.length === 1) return letters
  return letters.slice(1).map((letter, index) => `${letters[index]}${letter}`)
}

function singular(word: string): string {
  if (word.length < 4 || /(?:ss|us|is)$/.test(word)) return word
  if (word.endsWith('ies')) return `${word.slice(0, -3)}y`
  if (/(?:ch|sh|x|z|ss)es$/.test(word)) return word.slice(0, -2)
  return word.endsWith('s') ? word.slice(0, -1) : word
}

/** `deployment` is to deploy and `deletion` to delete. What is left is long, so that an option is not to opt. */
function verbOf(word: string): string {
  if (word.length > 8 && word.endsWith('ment')) return word.slice(0, -4)
  return word.length > 7 && word.endsWith('ion') ? word.slice(0, -3) : word
}

/** `create`, `creating` and `created` differ in the e alone. */
function endless(word: string): string {
  return word.length > 3 && word.endsWith('e') ? word.slice(0, -1) : word
}
