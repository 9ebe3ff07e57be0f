// Characters in a text that a model reads and a person does not see.

export interface Hidden {
  readonly kind: 'invisible' | 'bidi' | 'tags'
  readonly characters: readonly string[]
  /** What tag characters spell. */
  readonly says: string
}

export function hiddenIn(text: string): Hidden[] {
  if (!UNSEEN.test(text)) return []
  const honest = text.replace(HONEST, '')
  const tags = honest.match(TAGS) ?? []
  const bidi = honest.match(BIDI) ?? []
  const invisible = (honest.match(UNSEEN_ALL) ?? []).filter(
    (character) => !/^[\n\r\t]$/.test(character) && !isTag(character) && !BIDI_ONE.test(character),
  )
  const hidden: Hidden[] = [
    { kind: 'invisible', characters: invisible, says: '' },
    { kind: 'bidi', characters: bidi, says: '' },
    { kind: 'tags', characters: tags, says: tags.map(letterOf).join('') },
  ]
  return hidden.filter(({ characters }) => characters.length > 0)
}

/** A text as a model may read it: without what cannot be seen, and with tag characters as the letters they stand for. */
export function plainText(text: string): string {
  // Letters in other shapes, such as wide or bold ones, say the same to a model.
  const plain = ASCII.test(text) ? text : text.normalize('NFKC')
  if (!UNSEEN.test(plain)) return plain
  return plain
    .replace(/[\u{E0000}-\u{E007F}]+/gu, (tags) => ` ${Array.from(tags, letterOf).join('')} `)
    .replace(UNSEEN_ALL, (character) => (/^[\n\r\t]$/.test(character) ? character : ''))
}

// --- internal ---

const ASCII = /^[\x20-\x7e\s]*$/
/** The blank of braille, too, and what has no letter: places for private use, and halves of pairs. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}\u2800\p{Default_Ignorable_Code_Point}]/u
const UNSEEN_ALL = new RegExp(UNSEEN.source, 'gu')
const TAGS = /[\u{E0000}-\u{E007F}]/gu
const BIDI = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/g
const BIDI_ONE = /^[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]$/

/** Emoji are put together with joiners, selectors and, flags of countries' parts, tags; some scripts write with joiners. */
const HONEST =
  /(?<=\p{Extended_Pictographic}|\p{Emoji_Modifier}|[0-9#*])\uFE0F|(?<=\p{Extended_Pictographic}|\p{Emoji_Modifier}|\uFE0F)\u200D(?=\p{Extended_Pictographic})|\u{1F3F4}[\u{E0020}-\u{E007E}]{1,6}\u{E007F}|(?<=[\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Tamil}\p{Script=Sinhala}\p{Script=Malayalam}])[\u200C\u200D]/gu

function isTag(character: string): boolean {
  const code = character.codePointAt(0) ?? 0
  return code >= 0xe0000 && code <= 0xe007f
}

function letterOf(tag: string): string {
  const code = (tag.codePointAt(0) ?? 0) - 0xe0000
  return code >= 0x20 && code < 0x7f ? String.fromCharCode(code) : ''
}
