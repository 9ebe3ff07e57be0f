// Files of `NAME=value` lines, as clients name them with `envFile`.

/** The variables of a file. Comments, `export` and quotes are understood; nothing is expanded or executed. */
export function parseEnvFile(text: string): Record<string, string> {
  const found: Record<string, string> = {}
  for (const line of text.replace(/^\uFEFF/, '').split(/\r?\n/)) {
    const [, name, raw] = /^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(.*)$/.exec(line) ?? []
    if (name !== undefined && raw !== undefined) found[name] = valueOfLine(raw)
  }
  return found
}

// --- internal ---

function valueOfLine(raw: string): string {
  const [, quoted] = /^"((?:[^"\\]|\\.)*)"\s*(?:#.*)?$/.exec(raw) ?? []
  if (quoted !== undefined) return quoted.replace(/\\(.)/g, (_, letter) => (letter === 'n' ? '\n' : letter))
  const [, literal] = /^'([^']*)'\s*(?:#.*)?$/.exec(raw) ?? []
  return literal ?? raw.replace(/\s+#.*$/, '').trim()
}
