// The beginning of a text that may hold secrets. They are masked before anything is cut: half of one is not found any more.

/** So much more than what is shown is searched, so that a secret which begins in there is seen to its end. */
const BEYOND = 16 * 1024
/**
 * So much is dropped of what was searched when there is more of it: half a secret may stand at its end, and masks before
 * it may have brought it near.
 */
export const MARGIN: number = 8 * 1024

interface ExcerptOptions {
  /** Characters that are shown. */
  readonly most: number
  readonly mask: (text: string) => string
  /** Whether the text is itself only the beginning of another. */
  readonly isPart?: boolean | undefined
}

export function excerptOf(text: string, { most, mask, isPart = false }: ExcerptOptions): string {
  const isCut = isPart || text.length > most + BEYOND
  const masked = mask(text.length > most + BEYOND ? text.slice(0, most + BEYOND) : text)
  const whole = isCut ? masked.slice(0, Math.max(0, masked.length - MARGIN)) : masked
  return isCut || whole.length > most ? `${whole.slice(0, most)}…` : whole
}
