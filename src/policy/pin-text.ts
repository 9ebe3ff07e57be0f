// Texts of servers for people's eyes: what cannot be seen is shown by its number, and what changed in a text is told by
// lines or words.

export interface TextPart {
  readonly kind: 'same' | 'removed' | 'added'
  readonly text: string
}

/** Whatever takes no place, moves or reorders what is read, or may look like nothing. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu

/** The same text with every character that cannot be seen as `⟨U+200B⟩`. Line breaks and tabs stay. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (character) =>
    character === '\n' || character === '\t' ? character : `⟨${codeOf(character)}⟩`,
  )
}

/** `U+200B` */
export function codeOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
}

/** At most about `limit` characters: the middle goes, and how much of it is said. */
export function cutMiddle(text: string, limit: number): string {
  // By whole characters: half a surrogate pair would be shown as something that is not there.
  const characters = text.length > limit ? Array.from(text) : []
  const left = characters.length - limit
  if (left <= 0) return text
  const head = Math.ceil(limit / 2)
  const end = characters.slice(characters.length - (limit - head)).join('')
  return `${characters.slice(0, head).join('')} …(${left} characters left out)… ${end}`
}

/** What became of a text: by lines where one has several, else by words. */
export function textDiff(before: string, after: string): TextPart[] {
  const pattern = before.includes('\n') || after.includes('\n') ? /[^\n]*\n|[^\n]+$/g : /\s+|\S+/g
  const old = before.match(pattern) ?? []
  const now = after.match(pattern) ?? []
  let start = 0
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1
  let end = 0
  const most = Math.min(old.length, now.length) - start
  while (end < most && old[old.length - 1 - end] === now[now.length - 1 - end]) end += 1
  return merged([
    ...parts('same', old.slice(0, start)),
    ...middle(old.slice(start, old.length - end), now.slice(start, now.length - end)),
    ...parts('same', old.slice(old.length - end)),
  ])
}

// --- internal ---

/** Cells of the table that finds what two texts share; beyond it the middle counts as replaced. */
const MOST_CELLS = 1_000_000

function middle(old: readonly string[], now: readonly string[]): TextPart[] {
  if ((old.length + 1) * (now.length + 1) > MOST_CELLS)
    return [...parts('removed', old), ...parts('added', now)]
  const width = now.length + 1
  const shared = new Uint16Array((old.length + 1) * width)
  const at = (row: number, column: number) => shared[row * width + column] ?? 0
  for (let row = old.length - 1; row >= 0; row--)
    for (let column = now.length - 1; column >= 0; column--)
      shared[row * width + column] =
        old[row] === now[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1))
  const found: TextPart[] = []
  let row = 0
  let column = 0
  while (row < old.length && column < now.length) {
    const [gone = '', come = ''] = [old[row], now[column]]
    if (gone === come) {
      found.push({ kind: 'same', text: gone })
      row += 1
      column += 1
    } else if (at(row + 1, column) >= at(row, column + 1)) {
      found.push({ kind: 'removed', text: gone })
      row += 1
    } else {
      found.push({ kind: 'added', text: come })
      column += 1
    }
  }
  return [...found, ...parts('removed', old.slice(row)), ...parts('added', now.slice(column))]
}

function parts(kind: TextPart['kind'], tokens: readonly string[]): TextPart[] {
  return tokens.length === 0 ? [] : [{ kind, text: tokens.join('') }]
}

/** Neighbours of one kind as one. */
function merged(all: readonly TextPart[]): TextPart[] {
  const result: TextPart[] = []
  for (const part of all) {
    const last = result.at(-1)
    if (last?.kind === part.kind) result[result.length - 1] = { ...last, text: last.text + part.text }
    else result.push(part)
  }
  return result
}
