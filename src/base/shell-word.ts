// Words for commands that a person copies.

/** A name as it can be typed in a shell: a command we print must not do more than it says. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
