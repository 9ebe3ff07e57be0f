// Texts as the driver can give them back.

/** The driver reads a text only up to its first NUL: a rule for `a\0b` would come back as one for `a`. */
export function withoutNul(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\uFFFD') : text
}
