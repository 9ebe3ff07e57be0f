// What several servers tell models of themselves, as one text: a heading each, and bounds, so that no server crowds out
// the others.

/** Bytes of one server's text. */
const MOST_EACH = 2_048
/** Bytes of everything, headings included. */
const MOST = 8_192
/** Bytes of which a text is worth its heading. */
const LEAST = 64

/** Undefined when nobody says anything. `ours` comes first, and is not theirs to crowd out. */
export function joinInstructions(
  all: readonly { readonly server: string; readonly text: string }[],
  ours?: string,
): string | undefined {
  const sections = fitting(
    all.map(({ server, text }) => ({
      heading: `## ${plain(server)}\n\n`,
      text: cut(nested(plain(text.slice(0, 16 * MOST_EACH))).trim(), MOST_EACH),
    })),
  )
  const headings = sections.reduce((sum, { heading }) => sum + bytes(heading) + BETWEEN.length, 0)
  const level = waterLevel(
    sections.map(({ text }) => bytes(text)),
    MOST - headings,
  )
  const parts = [
    ...(ours === undefined ? [] : [ours]),
    ...sections.map(({ heading, text }) => heading + cut(text, level)),
  ]
  return parts.length === 0 ? undefined : parts.join(BETWEEN)
}

// --- internal ---

const BETWEEN = '\n\n'
const END = '…'

interface Section {
  readonly heading: string
  readonly text: string
}

/** Those that have something to say, as many of the first as get room for more than a heading. */
function fitting(sections: readonly Section[]): readonly Section[] {
  const speaking = sections.filter(({ text }) => text !== '')
  let left = MOST
  return speaking.filter(({ heading, text }) => {
    left -= bytes(heading) + BETWEEN.length + Math.min(bytes(text), LEAST)
    return left >= 0
  })
}

/** How much each may have, so that short ones are whole and long ones share what they leave. */
function waterLevel(sizes: readonly number[], room: number): number {
  let left = room
  const sorted = [...sizes].sort((one, other) => one - other)
  for (const [index, size] of sorted.entries()) {
    const share = Math.floor(left / (sorted.length - index))
    if (size > share) return share
    left -= size
  }
  return MOST_EACH
}

/** Without the controls of the C0 set, save those that lay out a text. */
function plain(text: string): string {
  return text.replace(/\r\n?/g, '\n').replace(CONTROLS, '')
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out.
const CONTROLS = /[\u0000-\u0008\u000b-\u001f]/g

/** Headings of a server go below its own, so that none can begin a section in another's name. */
function nested(text: string): string {
  return text.replace(/^([ \t]{0,3})(#{1,4})(?=\s|$)/gm, '$1##$2')
}

/** At most so many bytes, cut between words where there are any. */
function cut(text: string, most: number): string {
  const encoded = Buffer.from(text)
  if (encoded.length <= most) return text
  let end = most - bytes(END)
  if (end <= 0) return ''
  // Not inside a character.
  while (end > 0 && ((encoded[end] ?? 0) & 0xc0) === 0x80) end -= 1
  const start = encoded.toString('utf8', 0, end)
  const next = encoded.toString('utf8', end, end + 1)
  const space = /\s/.test(next) ? start.length : start.search(/\s\S*$/)
  // A language that writes without spaces, or a text that is one long word, is cut where it ends.
  return (space > start.length / 2 ? start.slice(0, space) : start).trimEnd() + END
}

function bytes(text: string): number {
  return Buffer.byteLength(text)
}
